//! The exact depth of a problem: solved in double-double, finished and proven in 77 digits.

use crate::certificate::{Proven, multipliers_at, prove};
use crate::double_double::DoubleDouble;
use crate::formulation::{Formulation, Problem, Variant};
use crate::interior_point::{InteriorPoint, Iterate, Penalty, Strategy};
use crate::loss::PiecewiseQuadratic;
use crate::newton;
use crate::real::Real;
use crate::wide::Wide;

/// How a witness came to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Path {
    /// Solved in double-double, finished in 77 digits.
    Mixed,
    /// Solved in 77 digits from the beginning.
    Full,
}

/// The exact depth, known to within `proven.bound`.
#[derive(Debug, Clone)]
pub(crate) struct Witness {
    pub(crate) proven: Proven,
    pub(crate) path: Path,
}

/// Where to stop: the error of the depth in question, so that the witness can be far below it.
pub(crate) fn exact(problem: &Problem, error: f64) -> Option<Witness> {
    let wanted = (1e-4 * error).clamp(1e-30, 1e-12);
    let wide = Formulation::new(problem);
    let good = |proven: &Option<Proven>| proven.as_ref().is_some_and(|p| p.bound.to_f64() <= wanted);
    let solver = Solver { problem, wide: &wide };
    let mixed = solver.mixed();
    if good(&mixed) {
        return mixed.map(|proven| Witness { proven, path: Path::Mixed });
    }
    let full = solver.full(wanted);
    let better = match (&mixed, &full) {
        (Some(a), Some(b)) => a.bound < b.bound,
        (a, _) => a.is_some(),
    };
    if better {
        mixed.map(|proven| Witness { proven, path: Path::Mixed })
    } else {
        full.map(|proven| Witness { proven, path: Path::Full })
    }
}

/// What is negligible in a risk: well below any error that doubles can have.
const NEGLIGIBLE: f64 = 1e-32;

/// Most Newton steps in 77 digits: far more than any problem has needed (heuristic).
const STEPS: usize = 2000;

struct Solver<'a> {
    problem: &'a Problem,
    wide: &'a Formulation<Wide>,
}

impl Solver<'_> {
    fn prove(&self, theta: &[Wide], multipliers: Vec<Wide>) -> Option<Proven> {
        prove(self.wide, self.problem.variant, self.problem.reg, theta, multipliers)
    }

    fn penalty<T: Real>(&self) -> Penalty<T> {
        match self.problem.variant {
            Variant::Constrained { radius } => Penalty::Radius(T::from_f64(radius)),
            Variant::Risk | Variant::Objective => Penalty::Weight(T::from_f64(self.problem.reg)),
        }
    }

    /// Double-double first.
    fn mixed(&self) -> Option<Proven> {
        let narrow = self.wide.rounded::<DoubleDouble>();
        if let Some(shape) = self.problem.loss.piecewise_quadratic() {
            let strategy = Strategy::Mehrotra;
            let method = InteriorPoint { formulation: &narrow, shape, penalty: self.penalty(), strategy };
            let at = method.improve(method.start(1.0), 1e-24, 100);
            return self.finish_quadratic(&self.interior_point(shape, strategy), at.widened(), 40);
        }
        let widened = |theta: &[DoubleDouble]| theta.iter().map(|x| x.to_wide()).collect::<Vec<_>>();
        let at = match self.penalty() {
            Penalty::Weight(reg) => {
                newton::penalised(&narrow, reg, vec![DoubleDouble::zero(); narrow.width], 150)?
            }
            Penalty::Radius(radius) => newton::constrained(&narrow, radius, NEGLIGIBLE)?,
        };
        self.finish_smooth(widened(&at.theta), at.reg.to_wide())
    }

    fn interior_point(&self, shape: PiecewiseQuadratic, strategy: Strategy) -> InteriorPoint<'_, Wide> {
        InteriorPoint { formulation: self.wide, shape, penalty: self.penalty(), strategy }
    }

    /// 77 digits from the beginning.
    fn full(&self, wanted: f64) -> Option<Proven> {
        if let Some(shape) = self.problem.loss.piecewise_quadratic() {
            // Where one way to the optimum fails, another may not.
            let (fast, short) = (Strategy::Mehrotra, Strategy::Short);
            let mut best: Option<Proven> = None;
            for (strategy, size) in [(fast, 1.0), (fast, 1e4), (short, 1.0), (short, 1e4), (short, 1e8)] {
                let method = self.interior_point(shape, strategy);
                let Some(found) = self.finish_quadratic(&method, method.start(size), 600) else { continue };
                if best.as_ref().is_none_or(|best| found.bound < best.bound) {
                    best = Some(found);
                }
                if best.as_ref().is_some_and(|best| best.bound.to_f64() <= wanted) {
                    break;
                }
            }
            return best;
        }
        let at = match self.penalty() {
            Penalty::Weight(reg) => {
                newton::penalised(self.wide, reg, vec![Wide::zero(); self.wide.width], STEPS)?
            }
            Penalty::Radius(radius) => newton::constrained(self.wide, radius, 1e-40)?,
        };
        self.finish_smooth(at.theta, at.reg)
    }

    fn finish_quadratic(
        &self,
        method: &InteriorPoint<'_, Wide>,
        at: Iterate<Wide>,
        most: usize,
    ) -> Option<Proven> {
        let at = method.improve(at, 1e-60, most);
        let multipliers = at.multipliers.iter().zip(&self.wide.costs).map(|(&m, &c)| m / c).collect();
        self.prove(&at.theta, multipliers)
    }

    fn finish_smooth(&self, theta: Vec<Wide>, reg: Wide) -> Option<Proven> {
        let at = newton::penalised(self.wide, reg, theta, 4)?;
        let at = match self.problem.variant {
            Variant::Constrained { radius } => {
                let radius = Wide::from_f64(radius);
                let off = f64::abs((self.wide.squared_norm(&at.theta).sqrt() / radius).to_f64() - 1.0);
                if off < 1e-6 { newton::polish_constrained(self.wide, radius, at)? } else { at }
            }
            Variant::Risk | Variant::Objective => at,
        };
        self.prove(&at.theta, multipliers_at(self.wide, &at.theta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulation::Intercept;
    use crate::loss::Loss;

    fn problem(rows: &[&[f64]], query: &[f64], loss: Loss) -> Problem {
        Problem {
            rows: rows.iter().map(|row| row.to_vec()).collect(),
            weights: None,
            query: query.to_vec(),
            loss,
            intercept: Intercept::Free,
            variant: Variant::Objective,
            reg: 1.0,
            tol: 1e-6,
        }
    }

    fn assert_exact(problem: &Problem, truth: Wide) {
        let witness = exact(problem, 1e-15).unwrap();
        let off = (witness.proven.value - truth).abs();
        assert!(off <= witness.proven.bound, "{problem:?}: {witness:?}, {truth:?}");
        assert!(witness.proven.bound.to_f64() < 1e-19, "{problem:?}: {witness:?}");
    }

    #[test]
    fn hinge_has_its_closed_form_where_no_margin_is_beyond_one() {
        // 1 - ‖mean - z‖² / (8 reg) is the risk, 1 - ‖mean - z‖² / (16 reg) the objective.
        let rows: [&[f64]; 3] = [&[0.25, 1.0], &[0.5, -1.0], &[-1.0, 0.5]];
        let query = [1.0, 2.0];
        let mut p =
            Problem { weights: Some(vec![1.0, 0.5, 2.5]), reg: 4.0, ..problem(&rows, &query, Loss::Hinge) };
        let number = Wide::from_f64;
        let mut distance = Wide::zero();
        for k in 0..2 {
            let mean =
                (number(rows[0][k]) + number(0.5 * rows[1][k]) + number(2.5 * rows[2][k])) / number(4.0);
            distance += (mean - number(query[k])) * (mean - number(query[k]));
        }
        assert_exact(&p, Wide::one() - distance / number(64.0));
        p.variant = Variant::Risk;
        assert_exact(&p, Wide::one() - distance / number(32.0));
        // Within a small ball the best direction is that of mean - z.
        p.variant = Variant::Constrained { radius: 0.125 };
        assert_exact(&p, Wide::one() - distance.sqrt() * number(0.0625));
    }

    #[test]
    fn squared_hinge_has_its_closed_form_in_one_dimension() {
        // Without an intercept and with all margins below one, R = ½ mean (1 - w x)² + ½ (1 + w z)².
        let rows: [&[f64]; 3] = [&[0.5], &[0.25], &[-0.5]];
        let mut p = Problem { intercept: Intercept::None, ..problem(&rows, &[0.75], Loss::SquaredHinge) };
        p.reg = 0.5;
        let number = Wide::from_f64;
        let mean = number(0.25) / number(3.0);
        let squares = number(0.5625) / number(3.0) + number(0.5625);
        // Objective 1 - w (mean - z) + w² (½ squares + reg).
        let (linear, quadratic) = (number(0.75) - mean, squares * number(0.5) + number(0.5));
        let w = linear / (quadratic + quadratic);
        assert_exact(&p, Wide::one() - linear * w * number(0.5));
        p.variant = Variant::Risk;
        assert_exact(&p, Wide::one() - linear * w + squares * number(0.5) * w * w);
    }

    #[test]
    fn a_query_at_the_centre_of_symmetry_has_depth_one() {
        let rows: [&[f64]; 4] = [&[1.0, 3.0], &[-1.0, -3.0], &[2.0, -0.5], &[-2.0, 0.5]];
        for loss in Loss::ALL {
            for variant in [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 3.0 }] {
                for intercept in [Intercept::Free, Intercept::None, Intercept::Penalised] {
                    let p = Problem { variant, intercept, reg: 0.01, ..problem(&rows, &[0.0, 0.0], loss) };
                    assert_exact(&p, Wide::one());
                }
            }
        }
    }

    #[test]
    fn losses_of_one_row_against_its_mirror_image_have_their_closed_form() {
        // Rows at 1 (twice) and a query at -1 without an intercept: R = ℓ(w), so that within the ball R = ℓ(radius).
        for loss in Loss::ALL {
            let radius = 0.5;
            let variant = Variant::Constrained { radius };
            let p =
                Problem { variant, intercept: Intercept::None, ..problem(&[&[1.0], &[1.0]], &[-1.0], loss) };
            assert_exact(&p, loss.value(Wide::from_f64(radius)));
        }
        // e^(-w) + reg w² with reg = e^(-1) / 2 is least at w = 1, up to the rounding of reg, which is of second order.
        let reg = (-1f64).exp() / 2.0;
        let p = Problem {
            reg,
            intercept: Intercept::None,
            ..problem(&[&[1.0], &[1.0]], &[-1.0], Loss::Exponential)
        };
        let truth = (-Wide::one()).exp() + Wide::from_f64(reg);
        let witness = exact(&p, 1e-15).unwrap();
        assert!((witness.proven.value - truth).abs().to_f64() < 1e-30);
    }

    #[test]
    fn rows_of_very_different_sizes_are_decided() {
        // Far from the optimum Newton's decrement rises for a dozen steps here.
        let rows: [&[f64]; 2] = [
            &[-265_330.608_920_415_8, -7.748_896_996_279_45e-6],
            &[-182_491.656_607_067_04, 6.500_150_842_252_09e-6],
        ];
        let p = Problem {
            intercept: Intercept::None,
            reg: 2.458_232_460_867_524_8e-8,
            ..problem(&rows, &[10_303_199_448.074_411, 0.119_131_553_307_421_85], Loss::CubedExponential)
        };
        let witness = exact(&p, 1e-10).unwrap();
        assert_eq!(witness.path, Path::Full);
        assert!(witness.proven.bound.to_f64() < 1e-30, "{witness:?}");
    }

    #[test]
    fn both_paths_agree_on_an_offset_of_1e8() {
        for loss in Loss::ALL {
            for variant in [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 10.0 }] {
                let rows: [&[f64]; 4] = [&[1e8, 3.0], &[1e8 + 1.0, 2.0], &[1e8 - 2.0, -1.0], &[1e8, 0.5]];
                let p = Problem {
                    variant,
                    reg: 1e-8,
                    intercept: Intercept::None,
                    ..problem(&rows, &[1e8 + 0.5, 1.0], loss)
                };
                let wide = Formulation::new(&p);
                let solver = Solver { problem: &p, wide: &wide };
                let (mixed, full) = (solver.mixed().unwrap(), solver.full(1e-20).unwrap());
                assert!((mixed.value - full.value).abs() <= mixed.bound + full.bound);
                assert!(full.bound.to_f64() < 1e-19, "{loss:?} {variant:?}: {:e}", full.bound.to_f64());
            }
        }
    }
}
