//! Compound files, in which the old Excel keeps its sheets: chains of sectors, followed here before they are read, because a
//! chain that comes back to itself would be read for ever.

/// From here on numbers of sectors are marks: free, end of a chain, part of the table itself.
const MARKS: u32 = 0xffff_fffa;

const BROKEN: &str = "its table of sectors is broken";

/// Refuses chains without an end, sectors behind the end of the file, and streams longer than the file.
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
    // Streams: where they start, and how long they say they are.
    for entry in chain(word32(file, 48)).chunks_exact(128).filter(|entry| matches!(entry[66], 1 | 2 | 5)) {
        let (start, length) = (word32(entry, 116), word32(entry, 120) as usize);
        if (start < MARKS && start as usize > sectors.max(small.len())) || length > file.len() {
            return Err("a stream is longer than the file");
        }
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
