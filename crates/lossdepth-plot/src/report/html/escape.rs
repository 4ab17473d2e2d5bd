//! Text inside of markup and of scripts.

use std::fmt::{Display, Formatter, Result, Write};

/// A text as HTML shows it: no character of it is markup, neither between tags nor in a quoted attribute.
pub(super) struct Text<'a>(pub &'a str);

impl Display for Text<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        for letter in self.0.chars() {
            match letter {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                // HTML cannot represent them.
                control if control.is_control() && control != '\n' => out.write_char('\u{fffd}')?,
                letter => out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// A name or value in a sentence of another direction: `bdi` keeps right-to-left text from turning what follows.
pub(super) struct Name<'a>(pub &'a str);

impl Display for Name<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "<bdi>{}</bdi>", Text(self.0))
    }
}

/// A sentence in English, which may hold names of another direction.
pub(super) struct Sentence<'a>(pub &'a str);

impl Display for Sentence<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "<bdi dir=\"ltr\">{}</bdi>", Text(self.0))
    }
}

/// JSON that may stand in a `script` element: it cannot end it, start a comment, or hold a character that ends a line of a script.
pub(super) fn json_in_script(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let hostile = "</td><script>alert('x')</script> \"&\u{0}";
        let expected = "&lt;/td&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &quot;&amp;\u{fffd}";
        assert_eq!(Text(hostile).to_string(), expected);
    }

    #[test]
    fn json_cannot_leave_its_script() {
        let hostile = "</script><!--\u{2028}&\u{2029}]]>";
        let json = serde_json::to_string(hostile).unwrap();
        let inside = json_in_script(&json);
        assert!(!inside.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{inside}");
        assert_eq!(serde_json::from_str::<String>(&inside).unwrap(), hostile);
    }
}
