//! A document of headings, sentences and tables, for a terminal or in Markdown. What writes it does not ask for which,
//! but where the formats differ in what they say.

use super::markdown;
use super::strangers_text::shown;
use super::table::Table;

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to use colours
    pub colour: bool,
    /// The number of columns
    pub width: usize,
}

impl Style {
    /// The text in bold, where there are colours.
    pub fn bold(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// For whom a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A terminal
    Text(Style),
    /// Issues, wikis and pull requests
    Markdown,
}

/// What a document ends with so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Nothing,
    Heading,
    Lines,
    /// What stands apart: a table, a chart, a paragraph
    Figure,
}

/// A document that is being written.
#[derive(Debug)]
pub struct Document {
    pub format: Format,
    text: String,
    last: Block,
}

impl Document {
    /// An empty one.
    pub const fn new(format: Format) -> Self {
        Self { format, text: String::new(), last: Block::Nothing }
    }

    /// Adds a block, which ends its last line. In Markdown a blank line stands between all of them; on a terminal only
    /// before headings, and around what stands apart.
    fn add(&mut self, block: Block, text: &str) {
        let is_apart = match (self.format, self.last) {
            (_, Block::Nothing) => false,
            (Format::Markdown, _) => true,
            (Format::Text(_), Block::Heading) => false,
            (Format::Text(_), last) => block != Block::Lines || last == Block::Figure,
        };
        self.text += if is_apart { "\n" } else { "" };
        self.text += text;
        self.last = block;
    }

    /// What a name of others is in a sentence or a cell.
    pub fn name(&self, name: &str) -> String {
        match self.format {
            Format::Text(_) => shown(name).into_owned(),
            Format::Markdown => markdown::name(name),
        }
    }

    /// The title of the whole; a terminal has the command above it.
    pub fn title(&mut self, text: &str) {
        if self.format == Format::Markdown {
            self.add(Block::Heading, &format!("# {text}\n"));
        }
    }

    /// The heading of a section.
    pub fn heading(&mut self, text: &str) {
        let text = match self.format {
            Format::Text(style) => style.bold(text) + "\n",
            Format::Markdown => format!("## {text}\n"),
        };
        self.add(Block::Heading, &text);
    }

    /// A sentence that answers, in which the names of others may stand.
    pub fn answer(&mut self, text: &str) {
        let text = match self.format {
            Format::Text(_) => shown(text).into_owned() + "\n",
            Format::Markdown => format!("**{}**\n", markdown::escaped(text)),
        };
        self.add(Block::Lines, &text);
    }

    /// Sentences on a line of their own.
    pub fn sentence(&mut self, text: &str) {
        self.add(Block::Lines, &format!("{text}\n"));
    }

    /// Sentences that stand apart from others, on a terminal too.
    pub fn paragraph(&mut self, text: &str) {
        self.add(Block::Figure, &format!("{text}\n"));
    }

    /// What is known of something, behind its name.
    pub fn labelled(&mut self, label: &str, text: &str) {
        let text = match self.format {
            Format::Text(style) => format!("{}: {text}\n", style.bold(label)),
            Format::Markdown => format!("**{label}**: {text}\n"),
        };
        self.add(Block::Lines, &text);
    }

    /// A line for each of these; an empty list adds nothing.
    pub fn list(&mut self, items: impl IntoIterator<Item = String>) {
        let mark = if self.format == Format::Markdown { "- " } else { "" };
        let items: String = items.into_iter().map(|item| format!("{mark}{item}\n")).collect();
        if !items.is_empty() {
            self.add(Block::Lines, &items);
        }
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        let text = match self.format {
            Format::Text(style) => table.to_text(style.colour),
            Format::Markdown => table.to_markdown(),
        };
        self.add(Block::Figure, &text);
    }

    /// A chart of characters, whose lines have an end each. Markdown has none.
    pub fn chart(&mut self, lines: &str) {
        if self.format != Format::Markdown {
            self.add(Block::Figure, lines);
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

    fn written(format: Format) -> String {
        let mut document = Document::new(format);
        document.title("Pods");
        let name = document.name("a|b");
        document.sentence(&format!("One is {name}."));
        document.table(&Table::new(&["pod"], [["a".to_owned()]]));
        document.heading("More");
        document.chart("█ 1\n");
        document.labelled("Others", "2");
        document.list(["one", "two"].map(str::to_owned));
        document.finish()
    }

    #[test]
    fn one_document_is_written_in_each_format() {
        let style = Style { colour: false, width: 80 };
        let text = "One is a|b.\n\npod\na\n\nMore\n█ 1\n\nOthers: 2\none\ntwo\n";
        assert_eq!(written(Format::Text(style)), text);
        let markdown = "# Pods\n\nOne is `a?b`.\n\n| pod |\n|---|\n| a |\n\n## More\n\n**Others**: 2\n\n- one\n- two\n";
        assert_eq!(written(Format::Markdown), markdown);
    }
}
