//! A document of headings, sentences and tables, for a terminal or in Markdown. What writes it does not ask for which,
//! but where the formats differ in what they say.

use super::markdown;
use super::strangers_text::shown;
use super::table::TextTable;
use super::words::counted;

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Whether to use colours
    pub colour: bool,
    /// The number of columns
    pub width: usize,
}

impl TerminalStyle {
    /// The text in bold, where there are colours.
    pub fn bold(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// For whom a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// A terminal
    Text(TerminalStyle),
    /// Issues, wikis and pull requests
    Markdown,
}

/// What a document ends with so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentBlock {
    Nothing,
    Heading,
    Lines,
    /// What stands apart: a table, a chart, a paragraph
    Figure,
}

/// A document that is being written.
#[derive(Debug)]
pub struct TextDocument {
    pub format: DocumentFormat,
    text: String,
    last: DocumentBlock,
    /// Of a table no more rows are written
    most_rows: usize,
}

/// A folded part is cut to tables of so many rows, the first number with which it fits.
const CUTS: [usize; 7] = [usize::MAX, 50, 20, 10, 5, 2, 0];

impl TextDocument {
    /// An empty one.
    pub const fn new(format: DocumentFormat) -> Self {
        Self { format, text: String::new(), last: DocumentBlock::Nothing, most_rows: usize::MAX }
    }

    /// Adds a block, which ends its last line. In Markdown a blank line stands between all of them; on a terminal only
    /// before headings, and around what stands apart.
    fn add(&mut self, block: DocumentBlock, text: &str) {
        let is_apart = match (self.format, self.last) {
            (_, DocumentBlock::Nothing) => false,
            (DocumentFormat::Markdown, _) => true,
            (DocumentFormat::Text(_), DocumentBlock::Heading) => false,
            (DocumentFormat::Text(_), last) => {
                block != DocumentBlock::Lines || last == DocumentBlock::Figure
            }
        };
        self.text += if is_apart { "\n" } else { "" };
        self.text += text;
        self.last = block;
    }

    /// What a name of others is in a sentence or a cell.
    pub fn name(&self, name: &str) -> String {
        match self.format {
            DocumentFormat::Text(_) => shown(name).into_owned(),
            DocumentFormat::Markdown => markdown::name(name),
        }
    }

    /// The title of the whole; a terminal has the command above it.
    pub fn title(&mut self, text: &str) {
        if self.format == DocumentFormat::Markdown {
            self.add(DocumentBlock::Heading, &format!("# {text}\n"));
        }
    }

    /// The heading of a section.
    pub fn heading(&mut self, text: &str) {
        let text = match self.format {
            DocumentFormat::Text(style) => style.bold(text) + "\n",
            DocumentFormat::Markdown => format!("## {text}\n"),
        };
        self.add(DocumentBlock::Heading, &text);
    }

    /// What a sentence is in which the names of others may stand.
    pub fn escaped(&self, text: &str) -> String {
        match self.format {
            DocumentFormat::Text(_) => shown(text).into_owned(),
            DocumentFormat::Markdown => markdown::escaped(text),
        }
    }

    /// A sentence that answers, in which the names of others may stand.
    pub fn answer(&mut self, text: &str) {
        let text = self.escaped(text);
        let text = match self.format {
            DocumentFormat::Text(_) => format!("{text}\n"),
            DocumentFormat::Markdown => format!("**{text}**\n"),
        };
        self.add(DocumentBlock::Lines, &text);
    }

    /// Sentences on a line of their own.
    pub fn sentence(&mut self, text: &str) {
        self.add(DocumentBlock::Lines, &format!("{text}\n"));
    }

    /// Sentences that stand apart from others, on a terminal too.
    pub fn paragraph(&mut self, text: &str) {
        self.add(DocumentBlock::Figure, &format!("{text}\n"));
    }

    /// What is known of something, behind its name.
    pub fn labelled(&mut self, label: &str, text: &str) {
        let text = match self.format {
            DocumentFormat::Text(style) => format!("{}: {text}\n", style.bold(label)),
            DocumentFormat::Markdown => format!("**{label}**: {text}\n"),
        };
        self.add(DocumentBlock::Lines, &text);
    }

    /// A line for each of these; an empty list adds nothing.
    pub fn list(&mut self, items: impl IntoIterator<Item = String>) {
        let mark = if self.format == DocumentFormat::Markdown { "- " } else { "" };
        let items: String = items.into_iter().map(|item| format!("{mark}{item}\n")).collect();
        if !items.is_empty() {
            self.add(DocumentBlock::Lines, &items);
        }
    }

    /// A table.
    pub fn table(&mut self, table: &TextTable) {
        let (table, left_out) = table.cut(self.most_rows);
        let text = match self.format {
            DocumentFormat::Text(style) => table.to_text(style.colour),
            DocumentFormat::Markdown => table.to_markdown(),
        };
        self.add(DocumentBlock::Figure, &text);
        if left_out > 0 {
            self.sentence(&counted(left_out, "more row is left out.", "more rows are left out."));
        }
    }

    /// What `write` adds, in Markdown folded below `summary`. There its tables are cut until the document has at most
    /// `most` characters. If that is not enough, a sentence stands in its place.
    pub fn folded(&mut self, summary: &str, most: usize, write: impl Fn(&mut Self)) {
        if self.format != DocumentFormat::Markdown {
            return write(self);
        }
        let left = most.saturating_sub(self.text.chars().count());
        let fitting = CUTS.into_iter().find_map(|most_rows| {
            let mut part = Self { most_rows, ..Self::new(self.format) };
            write(&mut part);
            let text = part.finish();
            let text = format!("<details>\n<summary>{summary}</summary>\n\n{text}\n</details>\n");
            // A blank line comes before it.
            (text.chars().count() < left).then_some(text)
        });
        match fitting {
            Some(text) => self.add(DocumentBlock::Figure, &text),
            None => self.sentence(&format!("{summary} are left out: they are too long.")),
        }
    }

    /// A chart of characters, whose lines have an end each. Markdown has none.
    pub fn chart(&mut self, lines: &str) {
        if self.format != DocumentFormat::Markdown {
            self.add(DocumentBlock::Figure, lines);
        }
    }

    /// The whole document.
    pub fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: DocumentFormat) -> String {
        let mut document = TextDocument::new(format);
        document.title("Pods");
        let name = document.name("a|b");
        document.sentence(&format!("One is {name}."));
        document.table(&TextTable::new(&["pod"], [["a".to_owned()]]));
        document.heading("More");
        document.chart("█ 1\n");
        document.labelled("Others", "2");
        document.list(["one", "two"].map(str::to_owned));
        document.finish()
    }

    #[test]
    fn one_document_is_written_in_each_format() {
        let style = TerminalStyle { colour: false, width: 80 };
        let text = "One is a|b.\n\npod\na\n\nMore\n█ 1\n\nOthers: 2\none\ntwo\n";
        assert_eq!(written(DocumentFormat::Text(style)), text);
        let markdown = "# Pods\n\nOne is `a?b`.\n\n| pod |\n|---|\n| a |\n\n## More\n\n**Others**: 2\n\n- one\n- two\n";
        assert_eq!(written(DocumentFormat::Markdown), markdown);
    }

    #[test]
    fn a_part_that_is_folded_is_cut_until_the_document_fits() {
        let folded = |format, most: usize| {
            let mut document = TextDocument::new(format);
            document.answer("Slower.");
            let rows = (0..60).map(|row| [row.to_string()]);
            let table = TextTable::new(&["row"], rows);
            document.folded("All rows", most, |part| part.table(&table));
            document.finish()
        };
        let whole = folded(DocumentFormat::Markdown, usize::MAX);
        let begin =
            "**Slower.**\n\n<details>\n<summary>All rows</summary>\n\n| row |\n|---|\n| 0 |\n";
        assert!(whole.starts_with(begin), "{whole}");
        assert!(whole.ends_with("| 59 |\n\n</details>\n"), "{whole}");
        let length = whole.chars().count();
        assert_eq!(folded(DocumentFormat::Markdown, length), whole);
        let cut = folded(DocumentFormat::Markdown, length - 1);
        assert!(cut.ends_with("| 49 |\n\n10 more rows are left out.\n\n</details>\n"), "{cut}");
        for most in 1..length {
            let cut = folded(DocumentFormat::Markdown, most);
            assert!(cut.chars().count() <= most.max(60), "{most}: {cut}");
        }
        let style = TerminalStyle { colour: false, width: 80 };
        let text = folded(DocumentFormat::Text(style), 1);
        assert!(text.starts_with("Slower.\n\nrow\n0\n") && text.ends_with("\n59\n"), "{text}");
    }
}
