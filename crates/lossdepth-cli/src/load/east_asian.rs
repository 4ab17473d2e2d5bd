//! Texts of Japanese, Chinese and Korean spreadsheets, in which a letter is two bytes.

use encoding_rs::{BIG5, EUC_KR, Encoding, GBK, SHIFT_JIS};

/// Fewer letters of two bytes tell nothing (heuristic).
const LETTERS: usize = 4;

/// The encoding in which a text of bytes beyond ASCII consists of common letters of two bytes; `None` where they are more likely
/// letters of one byte, as in Western Europe. The shares are heuristics: the frequent letters of each encoding begin with a few
/// bytes that Western and Cyrillic texts have rarely, and a letter of one byte in front of a comma fits none of them.
pub(super) fn guess(head: &[u8]) -> Option<&'static Encoding> {
    // What is cut off at the end is no whole line.
    let head = head.iter().rposition(|&byte| byte == b'\n').map_or(head, |last| &head[..last]);
    let fits = |encoding: &'static Encoding| !encoding.decode_without_bom_handling(head).1;
    let japanese = pairs(head, |byte| matches!(byte, 0xa1..=0xdf));
    let other = pairs(head, |_| false);
    let most = |pairs: &[(u8, u8)], share: usize, is: &dyn Fn(u8, u8) -> bool| {
        let count = pairs.iter().filter(|(first, second)| is(*first, *second)).count();
        pairs.len() >= LETTERS && 100 * count >= share * pairs.len()
    };
    match () {
        () if fits(SHIFT_JIS) && most(&japanese, 80, &|first, _| matches!(first, 0x81..=0x98)) => {
            Some(SHIFT_JIS)
        }
        // Hangul, before the Chinese letters that have the same bytes and more.
        () if fits(EUC_KR)
            && most(&other, 95, &|first, second| matches!(first, 0xa1..=0xc8) && second >= 0xa1) =>
        {
            Some(EUC_KR)
        }
        () if fits(GBK)
            && most(&other, 95, &|_, second| second >= 0xa1)
            && most(&other, 70, &|first, _| matches!(first, 0xa1..=0xd7)) =>
        {
            Some(GBK)
        }
        () if fits(BIG5) && most(&other, 90, &|first, _| matches!(first, 0xa1..=0xc6)) => Some(BIG5),
        () => None,
    }
}

/// The pairs of bytes that begin with one beyond ASCII, but for those that are a letter by themselves.
fn pairs(text: &[u8], single: impl Fn(u8) -> bool) -> Vec<(u8, u8)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(&first) = text.get(at) {
        if first >= 0x80 && !single(first) {
            found.push((first, text.get(at + 1).copied().unwrap_or(0)));
            at += 1;
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{MACINTOSH, WINDOWS_1251, WINDOWS_1252};

    #[test]
    fn letters_of_two_bytes_are_told_apart() {
        let cases = [
            ("注文番号,日付,店舗\nA1,2025年1月4日,東京\nA2,2025年1月5日,大阪\n", SHIFT_JIS),
            ("ﾃﾞｰﾀ,単価,かな\n1,120,ひらがな\n", SHIFT_JIS),
            ("订单号,日期,金额\n1,2025年1月4日,北京\n2,2025年1月5日,上海\n", GBK),
            ("주문번호,날짜,금액\n1,서울,부산\n2,대구,광주\n", EUC_KR),
            ("訂單編號,日期,金額\n1,臺北,高雄\n2,臺中,臺南\n", BIG5),
        ];
        for (text, encoding) in cases {
            let bytes = encoding.encode(text).0;
            assert_eq!(guess(&bytes), Some(encoding), "{text}");
            // Cut in the middle of a letter.
            assert_eq!(guess(&bytes[..bytes.len() - 2]), Some(encoding), "{text}");
        }
        let western =
            "Straße,Größe,Ort,née\nKöln,5,Café,prénom\nMünchen,7,Liège,Façade\nÅrhus,3,Malmö,Šibenik\n";
        assert_eq!(guess(&WINDOWS_1252.encode(western).0), None);
        assert_eq!(guess(&MACINTOSH.encode("né,Café,Zürich\nétat,forêt,île\nété,à,où\n").0), None);
        assert_eq!(
            guess(&WINDOWS_1251.encode("город,сумма,дата\nМосква,5,март\nТула,7,май\nОмск,3,июнь\n").0),
            None
        );
        assert_eq!(guess(&WINDOWS_1252.encode("€ 5,– „Ort“\n").0), None);
    }
}
