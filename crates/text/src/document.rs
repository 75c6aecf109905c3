//! A document of headings, sentences and tables, for a terminal or in Markdown. What writes it does not ask for which,
//! but where the formats differ in what they say.

use super::markdown;
use super::strangers_text::shown;
use super::table::TextTable;

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
}

impl TextDocument {
    /// An empty one.
    pub const fn new(format: DocumentFormat) -> Self {
        Self { format, text: String::new(), last: DocumentBlock::Nothing }
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

    /// A sentence that answers, in which the names of others may stand.
    pub fn answer(&mut self, text: &str) {
        let text = match self.format {
            DocumentFormat::Text(_) => shown(text).into_owned() + "\n",
            DocumentFormat::Markdown => format!("**{}**\n", markdown::escaped(text)),
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
        let text = match self.format {
            DocumentFormat::Text(style) => table.to_text(style.colour),
            DocumentFormat::Markdown => table.to_markdown(),
        };
        self.add(DocumentBlock::Figure, &text);
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
}
