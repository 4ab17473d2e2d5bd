//! Texts with letters of one byte: those of Western, Central and Eastern Europe.

use encoding_rs::{Encoding, ISO_8859_2, KOI8_R, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252};

/// Fewer letters tell nothing (heuristic).
const LETTERS: usize = 2;

/// The encoding in which the bytes beyond ASCII are letters that stand where letters do: Windows-1252 unless signs of it, such as
/// `³` and `¹`, stand within words, as they do in Polish, or words consist of letters beyond ASCII, as in Russian.
pub(super) fn guess(head: &[u8]) -> &'static Encoding {
    let beyond = head.iter().filter(|byte| **byte >= 0x80).count();
    let cyrillic = runs(head);
    if cyrillic.len() >= LETTERS && 2 * cyrillic.iter().map(|run| run.len()).sum::<usize>() >= beyond {
        // Small letters, which most are, have the second half of the alphabet's bytes in Windows-1251, the first in KOI8-R.
        let inside = cyrillic.iter().flat_map(|run| &run[1..]);
        let (small, all) =
            inside.fold((0, 0), |(small, all), byte| (small + usize::from(*byte >= 0xe0), all + 1));
        return if 2 * small >= all { WINDOWS_1251 } else { KOI8_R };
    }
    let within = |signs: &[u8]| {
        let is_letter = |at: Option<usize>| {
            at.and_then(|at| head.get(at)).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte >= 0xc0)
        };
        let is_within = |(at, byte): &(usize, &u8)| {
            let (before, behind) = (is_letter(at.checked_sub(1)), is_letter(Some(at + 1)));
            // Square and cubic metres and feet.
            let unit = !behind && at.checked_sub(1).is_some_and(|at| matches!(head[at], b'm' | b't' | b'M'));
            signs.contains(byte) && before && !unit
        };
        head.iter().enumerate().filter(is_within).count()
    };
    // ą, ł, ż, ľ and Ł, ť in Windows-1250; ą, ś, ź, š, ť in ISO 8859-2.
    let windows = within(&[0xb3, 0xb9, 0xbf, 0xbe, 0x9d, 0xa3]);
    let iso = within(&[0xb1, 0xb6, 0xbc, 0xb3]);
    let ours = |count: usize| count >= LETTERS && 10 * count >= beyond;
    match () {
        () if ours(windows) && windows >= iso => WINDOWS_1250,
        () if ours(iso) => ISO_8859_2,
        () if is_czech(head) => WINDOWS_1250,
        () => WINDOWS_1252,
    }
}

/// The runs of at least three letters beyond ASCII.
fn runs(head: &[u8]) -> Vec<&[u8]> {
    head.split(|byte| *byte < 0xc0).filter(|run| run.len() >= 3).collect()
}

/// Whether there are ě and ř, and ů or č, of which Windows-1252 makes ì, ø, ù and è: no other language has these.
fn is_czech(head: &[u8]) -> bool {
    let has = |byte: u8| head.contains(&byte);
    has(0xec) && has(0xf8) && (has(0xf9) || has(0xe8)) && !has(0xe5) && !has(0xe6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_one_byte_are_told_apart() {
        let cases = [
            ("Miasto;Kwota\nŁódź;5 zł\nWrocław;7 zł\nPłock;3 zł\n", WINDOWS_1250),
            ("Miasto;Kwota\nŁódź;5 zł\nWrocław;7 zł\nDąbrowa;3 zł\n", ISO_8859_2),
            ("Město;Příjmení\nPlzeň;Dvořák\nBrno;Nováčková\nÚstí;Růžička\n", WINDOWS_1250),
            ("город,сумма\nМосква,5\nТула,7\nОмск,3\n", WINDOWS_1251),
            ("город,сумма\nМосква,5\nТула,7\nОмск,3\n", KOI8_R),
            ("Straße;Größe\nKöln;5 m³\nBöblingen;7 m³\nÜlzen;2 m²\n", WINDOWS_1252),
            ("né;Café\nétat;forêt\nœuvre;cœur\n¿Qué?;año\n", WINDOWS_1252),
            ("Ålesund;Tromsø\nÅrhus;Malmö\nÆrø;Hørsholm\n", WINDOWS_1252),
            ("5 £;¥\n", WINDOWS_1252),
        ];
        for (text, encoding) in cases {
            assert_eq!(guess(&encoding.encode(text).0), encoding, "{text}");
        }
    }
}
