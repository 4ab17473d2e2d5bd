//! The declaration of every setting: its name, type, default, range and help, each written once.
//!
//! [`Settings`], [`Setting::ALL`], the flags and help of the command line, and the docstrings of Python follow from
//! this table; a test compares the parameters of the Python estimators with it. Which methods have a setting, and
//! where their defaults differ, is in the table of methods (`method.rs`).

use super::method::Method;
use super::setting::{Range, Setting};
use super::value::{Typed, Value};
use crate::data::{ReferenceRows, Scale};
use crate::error::Result;
use crate::kernel::{Gamma, KernelChoice, Sigma};
use crate::methods::Auto;
use crate::methods::classical::{Projection, Scatter, Simplicial};
use crate::methods::forest::{Forest, ForestLoss, MaxFeatures};
use crate::methods::gp::Probabilities;
use crate::problem::{Intercept, Reported, Variant};

/// Makes [`Settings`] and [`Setting::ALL`] of lines `name: Type = default, range, help, details;`. In braces are
/// the parameters of a setting, which are stored in its own value.
macro_rules! settings {
    ($(
        $name:ident: $type:ty = $default:expr, $range:expr, $help:literal $(, $details:literal)?
        $({ $(
            $part:ident: $part_type:ty, $part_range:expr, $part_help:literal $(, $part_details:literal)?;
        )* })?;
    )*) => {
        /// A method with all its settings.
        ///
        /// ```
        /// use lossdepth::{Method, Reference, Settings};
        /// let settings = Settings { reg: 0.01, ..Settings::new(Method::Logistic) };
        /// let model = settings.fit(&Reference::new(&[[0.0], [1.0], [2.0]])?)?;
        /// assert_eq!(model.width(), 1);
        /// # Ok::<(), lossdepth::DepthError>(())
        /// ```
        ///
        /// A method uses only the settings that it [has](Method::settings), and only those are serialised.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings {
            /// The method.
            pub method: Method,
            $(#[doc = concat!($help, ".")] pub $name: $type,)*
        }

        impl Setting {
            /// Every setting of any method.
            pub const ALL: &'static [Self] = &[$(
                Self {
                    name: stringify!($name),
                    kind: <$type as Typed>::KIND,
                    range: $range,
                    help: $help,
                    details: concat!($($details)?),
                    part_of: None,
                },
                $($(Self {
                    name: stringify!($part),
                    kind: <$part_type as Typed>::KIND,
                    range: $part_range,
                    help: $part_help,
                    details: concat!($($part_details)?),
                    part_of: Some(stringify!($name)),
                },)*)?
            )*];
        }

        impl Settings {
            /// The defaults in the table, before those of the method.
            pub(super) fn common(method: Method) -> Self {
                Self { method, $($name: $default,)* }
            }

            /// Sets the field of this name.
            pub(super) fn set(&mut self, setting: &Setting, value: &Value) -> Result<()> {
                match setting.name {
                    $(stringify!($name) => self.$name = Typed::read(setting, value)?,)*
                    other => unreachable!("`{other}` is no field of the settings"),
                }
                Ok(())
            }

            /// The value of the field of this name; `None` for a part of another setting.
            pub(super) fn field(&self, name: &str) -> Option<Value> {
                match name {
                    $(stringify!($name) => Some(self.$name.write()),)*
                    _ => None,
                }
            }
        }
    };
}

settings! {
    reg: f64 = 1.0, Range::Above(0.0),
        "Weight of the penalty ‖w‖²",
        "The classifier minimises risk + reg ‖w‖².";

    variant: Variant = Variant::Risk, Range::Any,
        "Which number is the depth",
        "`risk` is the risk at the minimum of risk + reg ‖w‖², `objective` that minimum itself, \
         `constrained` the smallest risk with ‖w‖ at most `radius`."
    {
        radius: Option<f64>, Range::Above(0.0),
            "Largest ‖w‖ allowed, for variant `constrained` and only there";
    };

    intercept: Intercept = Intercept::Free, Range::Any,
        "Whether the classifier has an intercept, and whether it is penalised",
        "With a free one the depth does not change when sample and query are translated together. \
         With a kernel a penalised one is the kernel plus 1.";

    scale: Scale = Scale::Standard, Range::Any,
        "How the columns are scaled, learned on the reference",
        "`none` takes them as they are; a kernel `precomputed` has no columns to scale. With `whiten` and `mcd` the depth \
         does not depend on the units or axes of the data, and `mcd` resists outliers in the reference.";

    scatter: Scatter = Scatter::Moment, Range::Any,
        "By which scatter matrix distances are measured",
        "`none` takes the columns as they are. With `moment` (the covariance) and `mcd` (the minimum covariance \
         determinant) the depth does not depend on units or axes, and `mcd` resists outliers in the reference.";

    bandwidth: Option<f64> = None, Range::Above(0.0),
        "The variance of the kernel, n^(-2 / (d + 4)) by default",
        "In units of the scatter matrix.";

    support_fraction: f64 = 0.75, Range::Between(0.5, 1.0),
        "Share of the rows that the scaling or scatter `mcd` uses";

    kernel: KernelChoice = KernelChoice::default(), Range::Any,
        "Which kernel",
        "In the order of the names: exp(-gamma ‖x - y‖²), exp(-‖x - y‖₁ / sigma), (c² + ‖x - y‖²)^beta, \
         ⟨x, y⟩, (gamma ⟨x, y⟩ + coef0)^degree, or the data themselves. For `precomputed` fit on the kernel \
         values of the n reference rows with each other, and score rows of the kernel values of each query \
         with the n reference rows. The kernel of a query with itself is then taken to be the diagonal of \
         the reference, which must be constant; for other kernels give it as column n + 1, both to fit and \
         to score."
    {
        gamma: Gamma, Range::Above(0.0),
            "The γ of the kernels `gaussian` and `polynomial`: auto is 1 / median squared distance, \
             5/median is 5 times that, quartile is 0.5 / squared first quartile of the distances, \
             neighbours is 1 / squared distance to the √n-th neighbour of a typical row",
            "The pairs of reference rows include each row with itself. Of more than 2048 different rows 2048 \
             are used: in lexicographic order, at equal steps of the cumulative weight.";
        sigma: Sigma, Range::Above(0.0),
            "The width of the kernel `laplacian`: auto is the median distance",
            "Over the same pairs of rows as for `gamma`.";
        c: f64, Range::Above(0.0), "The width of the kernel `imq`";
        beta: f64, Range::Below(0.0), "The exponent of the kernel `imq`";
        degree: u32, Range::AtLeast(1.0), "The power of the kernel `polynomial`";
        coef0: f64, Range::AtLeast(0.0), "The constant of the kernel `polynomial`";
    };

    probabilities: Probabilities = Probabilities::Averaged, Range::Any,
        "Which probabilities the loss is of: averaged over the posterior, or at its mode";

    memory: Option<f64> = None, Range::Above(0.0),
        "Limit in bytes for the kernel values of the reference, half of the machine's memory by default; \
         beyond it `svm` computes them as needed, and the other methods refuse",
        "No result depends on it.";

    max_depth: usize = 2, Range::AtLeast(1.0),
        "How many cuts a tree makes around a row";

    max_features: MaxFeatures = MaxFeatures::Sqrt, Range::Above(0.0),
        "How many columns a split considers: a name, a whole number, or a fraction with a decimal point";

    loss: ForestLoss = ForestLoss::Log, Range::Any,
        "The loss of the averaged probabilities",
        "It is 1 where both classes are equally likely. With p the probability of the true class: -log2 p, \
         4 (1 - p)², or whether p is below one half.";

    value: Reported = Reported::Risk, Range::Any,
        "What is reported: the risk, or the number that the paper's scripts print",
        "The scripts take natural logarithms and divide the sample term by n twice.";

    trees: usize = 0, Range::Between(0.0, 1e7),
        "How many random trees to grow; 0 for the average of all trees",
        "With `rotations` so many in every frame.";

    rotations: usize = 0, Range::Between(0.0, 1e7),
        "How many random orthogonal frames to grow trees in; 0 for the columns as they are",
        "Many frames suit round clouds better. Units then matter: see `scale`.";

    max_boxes: usize = Forest::MAX_BOXES, Range::AtLeast(1.0),
        "How many boxes of a level are cut further, the most probable first";

    hidden: Vec<usize> = vec![100], Range::Between(1.0, 1e4),
        "How many units each hidden layer of a network has, as 100 or 50,20";

    restarts: usize = 1, Range::Between(1.0, 1000.0),
        "How many times a network is trained with different random numbers; the best is kept",
        "The best is the one with the smallest risk plus penalty.";

    reference_rows: ReferenceRows = ReferenceRows::All, Range::AtLeast(2.0),
        "How many different rows of the reference are compared with at most: all, a number, auto for a \
         sample that gives depths a standard error of about 0.004 where there are more than 20000, or passes for all \
         rows of any number, read several times (logistic, squared-hinge, exponential, and svm with a large reg)",
        "The sample is random, and the same for any order of the rows. A row with very many copies is in it in any \
         case. With `passes` a sample is the start only, and errors are proven for all rows; \
         svm then needs reg of at least a quarter of the largest k(x, x), 0.25 for the kernels gaussian and laplacian.";

    resamples: usize = 0, Range::Between(0.0, 1000.0),
        "How many random halves of the reference to fit for `stderr`, 20 or more; 0 for the formula of the method",
        "All that is learned from the reference is learned again on each half, its scaling and widths too, so `auto` and \
         `forest` have a standard error then. Each takes about as long as half of the reference does.";

    trim: f64 = Auto::TRIM, Range::Between(0.0, 0.45),
        "Share of the reference, the oddest at first sight, that neighbourhoods leave out; 0 if it is known to be normal",
        "So outliers in the reference do not hide each other.";

    num_directions: usize = Projection::DIRECTIONS, Range::Between(1.0, 1e7),
        "How many random directions all rows share, in more than two dimensions",
        "The best one of a row is then improved by local search.";

    samples: usize = Simplicial::SAMPLES, Range::Between(1.0, 1e7),
        "How many random simplices to draw for a row, where they cannot all be counted";

    seed: u64 = 0, Range::Any,
        "Seed of the random numbers",
        "Every query gets the same ones.";

    tol: f64 = 1e-6, Range::Above(0.0),
        "Largest error bound to accept";

    max_iter: usize = 1000, Range::AtLeast(1.0),
        "Iteration limit of a row";

    budget: usize = 100, Range::AtLeast(1.0),
        "Work limit of a row, in millions of multiplications",
        "A limit on work, not on time, so that results do not depend on the machine.";
}
