"""Copy the pages of the site to a folder, with links that hold there.

python docs/make_site.py FOLDER KATEX PROGRAM

The pages of docs/ and a few of the project keep their text. A link to a file that is no page of the site (a source
file, a script) becomes the name of the file. FOLDER.yml is mkdocs.yml for that folder, with the pages that it does not
name in a section of their own. KATEX is the folder of KaTeX's npm package, which draws the formulas without a network.
PROGRAM is lossdepth: the page of its commands is made of what they print.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
]
LINK = re.compile(
    r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<to>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)"
)
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
RENDER = """document$.subscribe(({ body }) => renderMathInElement(body, {
  delimiters: [{ left: "\\\\\\\\[", right: "\\\\\\\\]", display: true }, { left: "\\\\\\\\(", right: "\\\\\\\\)", display: false }],
  throwOnError: false,
}));
""".replace("\\\\\\\\", "\\\\")


# Headings are dark and not thin. A formula that is wider than a phone scrolls, with its number behind it and not on it.
STYLE = """
.md-typeset h1, .md-typeset h2, .md-typeset h3 { color: var(--md-default-fg-color); font-weight: 600; letter-spacing: normal; }
.md-typeset h1 { font-size: 1.7em; margin-bottom: 0.8em; }
.md-typeset h2 { font-size: 1.3em; margin-top: 1.8em; }
.md-typeset .katex-display { margin: 1em 0; overflow: auto hidden; padding: 0.2em 0; }
@media (max-width: 45em) {
  .md-typeset .katex-display > .katex { text-align: left; white-space: nowrap; }
  .md-typeset .katex-display > .katex > .katex-html > .tag { position: static; padding-left: 1.5em; }
}
"""


def pages() -> dict[Path, Path]:
    """Where every page and picture is, and where it goes."""
    docs = ROOT / "docs"
    found = {
        path: path.relative_to(docs)
        for kind in ("*.md", "*.png", "*.svg")
        for path in docs.rglob(kind)
    }
    found |= {ROOT / name: Path(name) for name in PROJECT}
    return found | {ROOT / "benchmarks/README.md": Path("benchmarks/README.md")}


def relinked(text: str, path: Path, target: Path, targets: dict[Path, Path]) -> str:
    """The text of a page with links that hold where it goes."""

    def link(found: re.Match[str]) -> str:
        if not found["to"] or re.match(r"[a-z]+:", found["to"]):
            return found[0]
        to = (path.parent / found["to"]).resolve()
        if to.is_dir():
            to /= "README.md"
        if to == ROOT / "README.md":
            to = ROOT / "docs/index.md"
        if to not in targets:
            if not to.exists():
                sys.exit(f"{path.relative_to(ROOT)}: no file {found['to']}")
            return (
                found["text"]
                if found["text"].startswith("`")
                else f"{found['text']} (`{to.relative_to(ROOT)}`)"
            )
        up = "../" * (len(target.parts) - 1)
        words = found["text"]
        if re.fullmatch(r"[\w/-]+\.md", words):
            # Where the source says the name of a file, the site says the title of the page.
            words = to.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ")
        return f"[{words}]({up}{targets[to].as_posix()}{found['anchor'] or ''})"

    parts = FENCE.split(text)
    return "".join(
        part if part.startswith("```") else LINK.sub(link, part) for part in parts
    )


def configuration(out: Path, targets: dict[Path, Path]) -> str:
    """mkdocs.yml for the folder, with all pages in the navigation."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"[\w/-]+\.md", text))
    others = sorted(
        {t.as_posix() for t in targets.values() if t.suffix == ".md"} - named
    )
    text = text.replace("docs_dir: target/site-pages", f"docs_dir: {out.resolve()}")
    text = text.replace("site_dir: site", f"site_dir: {ROOT / 'site'}")
    return text + (
        "  - More:\n" + "".join(f"      - {page}\n" for page in others)
        if others
        else ""
    )


def commands(program: str) -> str:
    """Write the page of the command line: the help of every command."""

    def said(*words: str) -> str:
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, check=True
        )
        return "\n".join(line.rstrip() for line in done.stdout.splitlines())

    names = re.findall(
        r"^  (\w+) ",
        said("-h").split("Commands:")[1].split("Options:")[0],
        re.MULTILINE,
    )
    page = f"# Command line\n\n```text\n{said('-h')}\n```\n"
    return page + "".join(
        f"\n## lossdepth {name}\n\n```text\n{said(name, '--help')}\n```\n"
        for name in names
        if name != "help"
    )


def main(folder: str, katex: str, program: str) -> None:
    """Copy everything."""
    out = Path(folder)
    shutil.rmtree(out, ignore_errors=True)
    targets = pages()
    out.mkdir(parents=True)
    Path(f"{folder}.yml").write_text(configuration(out, targets), encoding="utf-8")
    for path, target in targets.items():
        (out / target).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = relinked(path.read_text(encoding="utf-8"), path, target, targets)
            (out / target).write_text(text, encoding="utf-8")
        else:
            shutil.copy(path, out / target)
    (out / "cli.md").write_text(commands(program), encoding="utf-8")
    assets, package = out / "katex", Path(katex) / "dist"
    (assets / "fonts").mkdir(parents=True)
    for font in (package / "fonts").glob("*.woff2"):
        shutil.copy(font, assets / "fonts")
    shutil.copy(package / "katex.min.js", assets)
    shutil.copy(package / "contrib/auto-render.min.js", assets)
    # Browsers of the last ten years read WOFF2; the other formats are not copied, so the style must not name them.
    style = (package / "katex.min.css").read_text(encoding="utf-8")
    style = re.sub(r",url\([^)]*\.(woff|ttf)\) format\(\"[a-z]+\"\)", "", style)
    (assets / "katex.min.css").write_text(style, encoding="utf-8")
    (assets / "render.js").write_text(RENDER, encoding="utf-8")
    (out / "site.css").write_text(STYLE, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
