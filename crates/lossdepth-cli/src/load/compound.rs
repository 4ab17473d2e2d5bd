//! Compound files, in which the old Excel keeps its sheets: chains of sectors, followed here before they are read, because a
//! chain that comes back to itself would be read for ever, and cells that are far apart would take all the cells between.

/// From here on numbers of sectors are marks: free, end of a chain, part of the table itself.
const MARKS: u32 = 0xffff_fffa;

const BROKEN: &str = "its table of sectors is broken";

/// How many cells there may be between the first and the last for each that is there, and in all (a heuristic).
const SPREAD: u64 = 1000;

/// The shortest stream that is in sectors of its own; shorter ones share those of the root, in parts of 64 bytes.
const LONG: usize = 4096;
const PART: usize = 64;

/// Refuses chains without an end, sectors behind the end of the file, streams longer than the file, and sheets with a few
/// cells far apart.
pub(super) fn check(file: &[u8]) -> Result<(), &'static str> {
    let size = match word16(file, 30) {
        9 => 512,
        12 => 4096,
        _ => return Err(BROKEN),
    };
    let sectors = (file.len() / size).max(1);
    let sector = |number: u32| {
        let start = (number as usize).checked_add(1)?.checked_mul(size)?;
        // The last one may be cut short.
        file.get(start..).map(|rest| &rest[..rest.len().min(size)])
    };
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    };
    // Where the parts of the table are: in the header, and in a chain of sectors of its own.
    let mut parts = words(file.get(76..512).ok_or(BROKEN)?);
    let mut next = word32(file, 68);
    let mut steps = 0;
    while next < MARKS {
        steps += 1;
        let mut more = words(sector(next).ok_or(BROKEN)?);
        next = more.pop().ok_or(BROKEN)?;
        parts.append(&mut more);
        if steps > sectors {
            return Err(BROKEN);
        }
    }
    parts.retain(|part| *part < MARKS);
    if [44, 64, 72].iter().any(|&at| word32(file, at) as usize > sectors) || parts.len() > sectors {
        return Err(BROKEN);
    }
    let mut table = Vec::new();
    for part in parts {
        table.append(&mut words(sector(part).ok_or(BROKEN)?));
    }
    ends(&table, sectors)?;
    let chain = |start: u32| {
        let (mut bytes, mut next, mut steps) = (Vec::new(), start, 0);
        while next < MARKS && steps <= sectors {
            bytes.extend_from_slice(sector(next).unwrap_or_default());
            next = table.get(next as usize).copied().unwrap_or(MARKS);
            steps += 1;
        }
        bytes
    };
    let small = words(&chain(word32(file, 60)));
    ends(&small, small.len())?;
    let directory = chain(word32(file, 48));
    // The type of an entry is not looked at: those who read it go by its name alone.
    let entries = || directory.chunks_exact(128);
    let place = |entry: &[u8]| {
        let high = if size == 512 { 0 } else { word32(entry, 124) };
        let length = (u64::from(high) << 32) | u64::from(word32(entry, 120));
        (word32(entry, 116), usize::try_from(length).unwrap_or(usize::MAX))
    };
    let Some(root) = entries().next() else { return Err("it has no directory") };
    let shared = chain(place(root).0);
    for entry in entries().filter(|entry| matches!(entry[66], 1 | 2 | 5) || is_workbook(entry)) {
        let (start, length) = place(entry);
        if (start < MARKS && start as usize > sectors.max(small.len())) || length > file.len() {
            return Err("a stream is longer than the file");
        }
    }
    for entry in entries().filter(|entry| is_workbook(entry)) {
        let (start, length) = place(entry);
        let mut stream = if length >= LONG { chain(start) } else { parts_of(&shared, &small, start) };
        stream.truncate(length);
        sheets(&stream)?;
    }
    Ok(())
}

/// Whether an entry of the directory is called `Workbook` or `Book`.
fn is_workbook(entry: &[u8]) -> bool {
    let name = encoding_rs::UTF_16LE.decode(&entry[..64]).0;
    let name = name.split('\0').next().unwrap_or_default();
    name.eq_ignore_ascii_case("Workbook") || name.eq_ignore_ascii_case("Book")
}

/// A short stream; its chain was found to end.
fn parts_of(shared: &[u8], table: &[u32], start: u32) -> Vec<u8> {
    let (mut bytes, mut next) = (Vec::new(), start);
    for _ in 0..=table.len() {
        if next >= MARKS {
            break;
        }
        let from = (next as usize).saturating_mul(PART);
        let rest = shared.get(from..).unwrap_or_default();
        bytes.extend_from_slice(&rest[..rest.len().min(PART)]);
        next = table.get(next as usize).copied().unwrap_or(MARKS);
    }
    bytes
}

/// The records of a stream from a position on: a type and the data of each.
fn records(stream: &[u8], start: usize) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = stream.get(start..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (kind, length) = (word16(rest, 0), usize::from(word16(rest, 2)));
        let data = rest.get(4..4 + length)?;
        rest = &rest[4 + length..];
        Some((kind, data))
    })
}

/// Refuses sheets with a few cells far apart, and those that claim many more than they have.
fn sheets(stream: &[u8]) -> Result<(), &'static str> {
    const SHEET: u16 = 0x85;
    const END: u16 = 0x0a;
    let of_workbook = records(stream, 0).take_while(|(kind, _)| *kind != END);
    for (_, data) in of_workbook.filter(|(kind, _)| *kind == SHEET) {
        sheet(stream, word32(data, 0) as usize)?;
    }
    Ok(())
}

/// One sheet. What is nested in it, a chart say, has records of its own.
fn sheet(stream: &[u8], start: usize) -> Result<(), &'static str> {
    const BEGIN: u16 = 0x0809;
    const END: u16 = 0x0a;
    let (mut begun, mut depth) = (false, 0u32);
    let (mut low, mut high, mut cells, mut claimed) = ((u64::MAX, u64::MAX), (0, 0), 0u64, 0u64);
    for (kind, data) in records(stream, start) {
        let word = |at: usize| u64::from(word16(data, at));
        match kind {
            BEGIN if begun => depth += 1,
            BEGIN => begun = true,
            END if depth > 0 => depth -= 1,
            END => break,
            _ if depth > 0 => {}
            // The rows and columns that are used, as two numbers each.
            0x0200 if data.len() >= 14 => {
                let rows = u64::from(word32(data, 4)).wrapping_sub(u64::from(word32(data, 0))) & 0xffff_ffff;
                let columns = word(10).wrapping_sub(word(8)) & 0xffff_ffff;
                claimed = claimed.max((rows + 1).saturating_mul(columns + 1));
            }
            0x0200 if data.len() >= 8 => {
                let (rows, columns) = (word(2).wrapping_sub(word(0)), word(6).wrapping_sub(word(4)));
                claimed = claimed.max(((rows & 0xffff) + 1) * ((columns & 0xffff) + 1));
            }
            // Cells: a number, a text, a truth value, a formula, several numbers.
            0x0203 | 0x0204 | 0x00d6 | 0x0205 | 0x027e | 0x00fd | 0x0006 | 0x00bd => {
                let (row, column) = (word(0), word(2));
                let more = if kind == 0x00bd { (data.len() as u64 / 6).saturating_sub(1) } else { 0 };
                low = (low.0.min(row), low.1.min(column));
                high = (high.0.max(row), high.1.max(column + more));
                cells += 1 + more;
            }
            _ => {}
        }
    }
    let area = if cells == 0 { 0 } else { (high.0 - low.0 + 1) * (high.1 - low.1 + 1) };
    // A table of `n` rows may well say that all columns are used.
    if area.max(claimed) > SPREAD * (cells + SPREAD) {
        return Err("its cells are far apart, or fewer than it says");
    }
    Ok(())
}

/// Whether every chain of a table ends: no sector follows two, and none is in a circle.
fn ends(table: &[u32], sectors: usize) -> Result<(), &'static str> {
    let mut followed = vec![false; table.len()];
    for &next in table.iter().filter(|next| **next < MARKS) {
        if next as usize > sectors {
            return Err(BROKEN);
        }
        if let Some(followed) = followed.get_mut(next as usize) {
            if *followed {
                return Err(BROKEN);
            }
            *followed = true;
        }
    }
    let mut seen = vec![false; table.len()];
    for start in (0..table.len()).filter(|&start| !followed[start]) {
        let mut at = start;
        while !seen[at] {
            seen[at] = true;
            match table.get(table[at] as usize) {
                Some(_) if table[at] < MARKS => at = table[at] as usize,
                _ => break,
            }
        }
    }
    if seen.iter().all(|seen| *seen) { Ok(()) } else { Err(BROKEN) }
}

fn word16(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}
