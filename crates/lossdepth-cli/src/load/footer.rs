//! The footer of a Parquet file, inspected before the library reads it.
//!
//! The library builds the tree of columns by recursion and reserves memory for as many children as a group claims. A footer
//! whose tree is too deep, incomplete or of the wrong types is refused here, so the library meets sound trees only. The
//! footer is in Thrift's compact protocol.

/// The deepest nesting of groups: a heuristic, far above what tables have and far below what a stack holds.
const MAX_DEPTH: usize = 64;

/// The most memory for the paths of all columns: the library stores every path from the root.
const MAX_PATHS: usize = 1 << 28;

/// Memory for each part of a path besides its letters.
const PART: usize = 24;

/// What is wrong with a footer.
type Checked<T> = Result<T, &'static str>;

const CUT: &str = "the footer ends too early";
const UNEXPECTED: &str = "the footer has fields of the wrong type";
const TREE: &str = "the tree of columns is incomplete";
const DEEP: &str = "columns are nested more than 64 deep";
const PATHS: &str = "the names of the columns take too much memory";

// Types of the compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// The type that a field must have. The library reads known fields by these types whatever the footer declares, so a field
/// declared otherwise would be read differently here and there.
#[derive(Clone, Copy)]
enum Shape {
    Bool,
    Of(u8),
    Struct(&'static [(u64, Shape)]),
}

const EMPTY: Shape = Shape::Struct(&[]);
const UNIT: Shape = Shape::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]);
const TIME: Shape = Shape::Struct(&[(1, Shape::Bool), (2, UNIT)]);
const LOGICAL_TYPE: Shape = Shape::Struct(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Shape::Struct(&[(1, Shape::Of(I32)), (2, Shape::Of(I32))])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Shape::Struct(&[(1, Shape::Of(BYTE)), (2, Shape::Bool)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Shape::Struct(&[(1, Shape::Of(BYTE))])),
    (17, Shape::Struct(&[(1, Shape::Of(BINARY))])),
    (18, Shape::Struct(&[(1, Shape::Of(BINARY)), (2, Shape::Of(I32))])),
    (19, EMPTY),
]);

/// The fields of a `SchemaElement`, by number. Name and number of children are read here.
const NAME: u64 = 4;
const CHILDREN: u64 = 5;
const ELEMENT: &[(u64, Shape)] = &[
    (1, Shape::Of(I32)),
    (2, Shape::Of(I32)),
    (3, Shape::Of(I32)),
    (NAME, Shape::Of(BINARY)),
    (CHILDREN, Shape::Of(I32)),
    (6, Shape::Of(I32)),
    (7, Shape::Of(I32)),
    (8, Shape::Of(I32)),
    (9, Shape::Of(I32)),
    (10, LOGICAL_TYPE),
];

/// Checks the tree of columns in a footer.
pub(super) fn check(footer: &[u8]) -> Checked<()> {
    let mut input = Compact { bytes: footer };
    // `FileMetaData` starts with the version and the schema in every file: nothing unknown comes before them.
    if input.field(0)? != Some((1, I32)) {
        return Err(UNEXPECTED);
    }
    input.number()?;
    if input.field(1)? != Some((2, LIST)) {
        return Err(UNEXPECTED);
    }
    let (kind, elements) = input.list()?;
    if kind != STRUCT {
        return Err(UNEXPECTED);
    }
    tree(&mut input, elements)
}

/// Follows the tree, which is stored in depth-first order: each group says how many children it has.
fn tree(input: &mut Compact<'_>, elements: usize) -> Checked<()> {
    // For each open group: the children still to come, and the size of its path.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut paths = 0usize;
    for index in 0..elements {
        let (name, children) = element(input)?;
        let path = match open.last_mut() {
            Some((left, path)) => {
                *left -= 1;
                path.saturating_add(name + PART)
            }
            None if index == 0 => 0,
            None => return Err(TREE),
        };
        if children > elements - index - 1 {
            return Err(TREE);
        }
        if children > 0 {
            open.push((children, path));
        } else {
            paths = paths.saturating_add(path);
        }
        if open.len() > MAX_DEPTH {
            return Err(DEEP);
        }
        if paths > MAX_PATHS {
            return Err(PATHS);
        }
        while open.pop_if(|(left, _)| *left == 0).is_some() {}
    }
    if elements > 0 && open.is_empty() { Ok(()) } else { Err(TREE) }
}

/// The length of the name of an element, and how many children it has.
fn element(input: &mut Compact<'_>) -> Checked<(usize, usize)> {
    let (mut name, mut children, mut last) = (0, 0, 0);
    while let Some((id, kind)) = input.field(last)? {
        match id {
            NAME if kind == BINARY => {
                name = input.length()?;
                input.take(name)?;
            }
            CHILDREN if kind == I32 => {
                // Zigzag: an odd number is negative.
                let claimed = input.number()?;
                if claimed % 2 == 1 || claimed > u64::from(u32::MAX) {
                    return Err(TREE);
                }
                children = usize::try_from(claimed / 2).map_err(|_| TREE)?;
            }
            _ => input.value(kind, shape(ELEMENT, id), MAX_DEPTH)?,
        }
        last = id;
    }
    Ok((name, children))
}

fn shape(fields: &'static [(u64, Shape)], id: u64) -> Option<Shape> {
    fields.iter().find(|(known, _)| *known == id).map(|(_, shape)| *shape)
}

/// Thrift's compact protocol, front to back.
struct Compact<'a> {
    bytes: &'a [u8],
}

impl Compact<'_> {
    fn byte(&mut self) -> Checked<u8> {
        let (first, rest) = self.bytes.split_first().ok_or(CUT)?;
        self.bytes = rest;
        Ok(*first)
    }

    fn take(&mut self, length: usize) -> Checked<()> {
        self.bytes = self.bytes.get(length..).ok_or(CUT)?;
        Ok(())
    }

    /// An unsigned number, seven bits a byte.
    fn number(&mut self) -> Checked<u64> {
        let mut value = 0u64;
        for place in 0..10 {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(UNEXPECTED)
    }

    fn length(&mut self) -> Checked<usize> {
        usize::try_from(self.number()?).map_err(|_| CUT)
    }

    /// The number and the type of the next field; none at the end of the struct.
    fn field(&mut self, last: u64) -> Checked<Option<(u64, u8)>> {
        let byte = self.byte()?;
        match (byte & 0x0f, u64::from(byte >> 4)) {
            (0, _) => Ok(None),
            // The number is given in full, which no writer of these structs needs.
            (_, 0) => Err(UNEXPECTED),
            (kind, step) => Ok(Some((last + step, kind))),
        }
    }

    /// The type and the number of elements; each takes a byte at least.
    fn list(&mut self) -> Checked<(u8, usize)> {
        let byte = self.byte()?;
        let size = if byte >> 4 == 15 { self.length()? } else { usize::from(byte >> 4) };
        if size > self.bytes.len() { Err(CUT) } else { Ok((byte & 0x0f, size)) }
    }

    /// Skips a value, which has this shape if it is a known one.
    fn value(&mut self, kind: u8, shape: Option<Shape>, depth: usize) -> Checked<()> {
        let fits = match shape {
            None => true,
            Some(Shape::Bool) => matches!(kind, TRUE | FALSE),
            Some(Shape::Of(expected)) => kind == expected,
            Some(Shape::Struct(_)) => kind == STRUCT,
        };
        if !fits || depth == 0 {
            return Err(UNEXPECTED);
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.take(1),
            I16 | I32 | I64 => self.number().map(|_| ()),
            DOUBLE => self.take(8),
            BINARY => {
                let length = self.length()?;
                self.take(length)
            }
            STRUCT => {
                let fields = if let Some(Shape::Struct(fields)) = shape { fields } else { &[] };
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    self.value(kind, self::shape(fields, id), depth - 1)?;
                    last = id;
                }
                Ok(())
            }
            // No field of an element is a list or a map.
            _ => Err(UNEXPECTED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An element without a type: `name` of so many letters, and its children if there are any.
    fn element(name: usize, children: Option<u8>) -> Vec<u8> {
        let mut bytes = vec![0x48, u8::try_from(name).unwrap()];
        bytes.resize(bytes.len() + name, b'n');
        if let Some(children) = children {
            bytes.extend([0x15, 2 * children]);
        }
        bytes.push(0);
        bytes
    }

    fn footer(elements: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![0x15, 2, 0x19, 0xfc, u8::try_from(elements.len()).unwrap()];
        bytes.extend(elements.concat());
        bytes
    }

    #[test]
    fn trees() {
        let (leaf, two) = (element(1, None), element(1, Some(2)));
        assert_eq!(check(&footer(&[two.clone(), leaf.clone(), leaf.clone()])), Ok(()));
        assert_eq!(
            check(&footer(&[two.clone(), two.clone(), leaf.clone(), leaf.clone(), leaf.clone()])),
            Ok(())
        );
        // A child is missing, one is left over, more are claimed than there are elements.
        assert_eq!(check(&footer(&[two.clone(), leaf.clone()])), Err(TREE));
        assert_eq!(check(&footer(&[element(1, Some(1)), leaf.clone(), leaf.clone()])), Err(TREE));
        assert_eq!(check(&footer(&[element(1, Some(60)), leaf.clone()])), Err(TREE));
        assert_eq!(check(&footer(&[])), Err(TREE));
        assert_eq!(check(&footer(&[two, leaf])[..9]), Err(CUT));
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |levels: usize| {
            let mut elements = vec![element(0, Some(1)); levels];
            elements.push(element(0, None));
            check(&footer(&elements))
        };
        assert_eq!(nested(MAX_DEPTH), Ok(()));
        assert_eq!(nested(MAX_DEPTH + 1), Err(DEEP));
    }

    #[test] // The library would read the length of the text as a number, and another tree from there.
    fn types_are_as_declared() {
        let mut element = element(1, None);
        element.splice(3..3, [0x18, 1, 0]);
        assert_eq!(check(&footer(&[element])), Err(UNEXPECTED));
        assert_eq!(check(&[0x18, 0, 0x19, 0x0c]), Err(UNEXPECTED));
    }
}
