//! Values of flags: shares, zones, sizes.

use crate::error::Result;

pub(super) fn contamination(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=0.5).contains(&share) => Ok(share),
        _ => Err("it must be between 0 and 0.5".to_owned()),
    }
}

/// Some numbers between 0 and 1, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Shares(pub(super) Vec<f64>);

pub(super) fn shares(text: &str) -> Result<Shares, String> {
    let number = |text: &str| match text.trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(format!("`{text}` is not between 0 and 1")),
    };
    let mut shares = text.split(',').map(number).collect::<Result<Vec<f64>, _>>()?;
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    Ok(Shares(shares))
}

/// Shares, or a number of them.
pub(super) fn zones(text: &str) -> Result<Shares, String> {
    match text.parse::<u32>() {
        Ok(count @ 1..=9) => Ok(Shares((1..=count).map(|i| f64::from(i) / f64::from(count + 1)).collect())),
        Ok(_) => Err("the number of zones must be from 1 to 9".to_owned()),
        Err(_) => shares(text),
    }
}

/// `WxH`, or the other way round for those who say so.
pub(in crate::commands) fn size(text: &str) -> Result<(u32, u32), String> {
    let (first, second) = pair(text)?;
    let side = |n: usize| u32::try_from(n).ok().filter(|n| (200..=10_000).contains(n));
    match (side(first), side(second)) {
        (Some(width), Some(height)) => Ok((width, height)),
        _ => Err("each side must be from 200 to 10000 pixels".to_owned()),
    }
}

/// Two whole numbers with an `x` between them.
pub(in crate::commands) fn pair(text: &str) -> Result<(usize, usize), String> {
    let wrong = || format!("`{text}` is not of the form 28x28");
    let (first, second) = text.split_once(['x', 'X', '×']).ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse().ok().filter(|n: &usize| *n > 0).ok_or_else(wrong);
    Ok((number(first)?, number(second)?))
}
