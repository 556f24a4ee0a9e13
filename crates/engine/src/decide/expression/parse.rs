//! From tokens to syntax, by recursive descent.

use std::ops::Range;

use smol_str::SmolStr;

use super::lexer::{Token, TokenKind};
use super::syntax::{Arithmetic, Comparison, Syntax, SyntaxKind, Word};
use super::{DEEPEST, Problem};

/// The syntax of a whole text; ends at the first mistake, because what follows one is guesswork.
pub(super) fn parse(tokens: &[Token]) -> Result<Syntax, Problem> {
    let mut parser = Parser { tokens, position: 0, depth: 0 };
    let syntax = parser.expression()?;
    match parser.peek() {
        TokenKind::End => Ok(syntax),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    position: usize,
    depth: usize,
}

/// The token after the last one, which is an end as well.
const END: Token = Token { kind: TokenKind::End, range: 0..0 };

impl<'t> Parser<'t> {
    /// `condition ? one : other`, or something simpler.
    fn expression(&mut self) -> Result<Syntax, Problem> {
        let condition = self.any()?;
        if !self.takes("?") {
            return Ok(condition);
        }
        let (yes, no) = self.deeper(|parser| {
            let yes = parser.expression()?;
            parser.expect(":")?;
            Ok((yes, parser.expression()?))
        })?;
        let range = condition.range.start..no.range.end;
        Syntax::new(SyntaxKind::Choose(Box::new([condition, yes, no])), range)
    }

    fn any(&mut self) -> Result<Syntax, Problem> {
        self.joined("||", Self::all, SyntaxKind::Any)
    }

    fn all(&mut self) -> Result<Syntax, Problem> {
        self.joined("&&", Self::relation, SyntaxKind::All)
    }

    /// Operands with one operator between all of them.
    fn joined(
        &mut self,
        mark: &'static str,
        operand: impl Fn(&mut Self) -> Result<Syntax, Problem>,
        join: impl Fn(Vec<Syntax>) -> SyntaxKind,
    ) -> Result<Syntax, Problem> {
        let first = operand(self)?;
        let mut range = first.range.clone();
        let mut more = Vec::new();
        while self.takes(mark) {
            let next = operand(self)?;
            range.end = next.range.end;
            more.push(next);
        }
        if more.is_empty() {
            return Ok(first);
        }
        more.insert(0, first);
        Syntax::new(join(more), range)
    }

    /// One comparison; `a < b < c` would compare a truth, which nobody means.
    fn relation(&mut self) -> Result<Syntax, Problem> {
        let left = self.sum()?;
        let Some(comparison) = self.comparison() else { return Ok(left) };
        self.position += 1;
        let right = self.sum()?;
        if self.comparison().is_some() {
            let problem = Problem::new(self.range(), "comparisons cannot be chained");
            return Err(problem.help("join two comparisons with `&&`, or put one into parentheses"));
        }
        let range = left.range.start..right.range.end;
        Syntax::new(SyntaxKind::Compare(comparison, Box::new([left, right])), range)
    }

    fn comparison(&self) -> Option<Comparison> {
        match self.peek() {
            TokenKind::Mark(sign) => Comparison::of(sign),
            TokenKind::Name(name) if name == "in" => Some(Comparison::In),
            _ => None,
        }
    }

    fn sum(&mut self) -> Result<Syntax, Problem> {
        self.chain(&[Arithmetic::Plus, Arithmetic::Minus], Self::product)
    }

    fn product(&mut self) -> Result<Syntax, Problem> {
        self.chain(&[Arithmetic::Times, Arithmetic::Divide, Arithmetic::Remainder], Self::unary)
    }

    /// Operands with operators of equal strength between them, from left to right.
    fn chain(
        &mut self,
        operators: &[Arithmetic],
        operand: impl Fn(&mut Self) -> Result<Syntax, Problem>,
    ) -> Result<Syntax, Problem> {
        let first = operand(self)?;
        let mut range = first.range.clone();
        let mut more = Vec::new();
        while let Some(&operator) = operators.iter().find(|operator| self.takes(operator.sign())) {
            let next = operand(self)?;
            range.end = next.range.end;
            more.push((operator, next));
        }
        if more.is_empty() {
            return Ok(first);
        }
        Syntax::new(SyntaxKind::Chain(Box::new(first), more), range)
    }

    fn unary(&mut self) -> Result<Syntax, Problem> {
        let start = self.range().start;
        let build: fn(Box<Syntax>) -> SyntaxKind = match self.peek() {
            TokenKind::Mark("!") => SyntaxKind::Not,
            TokenKind::Mark("-") => SyntaxKind::Negative,
            _ => return self.member(),
        };
        self.position += 1;
        let operand = self.deeper(Self::unary)?;
        let range = start..operand.range.end;
        Syntax::new(build(Box::new(operand)), range)
    }

    /// A value with fields, indexes and calls behind it.
    fn member(&mut self) -> Result<Syntax, Problem> {
        let mut base = self.primary()?;
        loop {
            let start = base.range.start;
            let kind = if self.takes(".") {
                let word = self.word()?;
                if self.takes("(") {
                    let arguments = self.deeper(|parser| parser.until(")"))?;
                    SyntaxKind::Call(Some(Box::new(base)), word, arguments)
                } else {
                    SyntaxKind::Field(Box::new(base), word)
                }
            } else if self.takes("[") {
                let index = self.deeper(Self::expression)?;
                self.expect("]")?;
                SyntaxKind::Index(Box::new([base, index]))
            } else {
                return Ok(base);
            };
            base = Syntax::new(kind, start..self.end())?;
        }
    }

    fn primary(&mut self) -> Result<Syntax, Problem> {
        let start = self.range().start;
        let kind = match self.peek().clone() {
            TokenKind::Number(number) => SyntaxKind::Number(number),
            TokenKind::Text(text) => SyntaxKind::Text(text),
            TokenKind::Name(name) if name != "in" => return self.name(name),
            TokenKind::Mark("(") => {
                self.position += 1;
                let inner = self.deeper(Self::expression)?;
                self.expect(")")?;
                return Ok(Syntax { range: start..self.end(), ..inner });
            }
            TokenKind::Mark("[") => {
                self.position += 1;
                let elements = self.deeper(|parser| parser.until("]"))?;
                return Syntax::new(SyntaxKind::List(elements), start..self.end());
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.position += 1;
        Syntax::new(kind, start..self.end())
    }

    fn name(&mut self, name: SmolStr) -> Result<Syntax, Problem> {
        let word = self.word()?;
        let range = word.range.clone();
        if self.takes("(") {
            let arguments = self.deeper(|parser| parser.until(")"))?;
            return Syntax::new(SyntaxKind::Call(None, word, arguments), range.start..self.end());
        }
        let kind = match name.as_str() {
            "null" => SyntaxKind::Null,
            "true" => SyntaxKind::Bool(true),
            "false" => SyntaxKind::Bool(false),
            _ => SyntaxKind::Name(name),
        };
        Syntax::new(kind, range)
    }

    fn word(&mut self) -> Result<Word, Problem> {
        let TokenKind::Name(text) = self.peek() else {
            let problem = self.unexpected("a name");
            return Err(problem.help("a name that is not made of letters and digits is written `[\"name\"]`"));
        };
        let word = Word { text: text.clone(), range: self.range() };
        self.position += 1;
        Ok(word)
    }

    /// Values with commas between them, up to a closing mark.
    fn until(&mut self, close: &'static str) -> Result<Vec<Syntax>, Problem> {
        let mut values = Vec::new();
        while !self.takes(close) {
            values.push(self.expression()?);
            if !self.takes(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(values)
    }

    /// Does something one level deeper, if there is one: the parser's own stack is bounded by this.
    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Problem>) -> Result<T, Problem> {
        if self.depth == DEEPEST {
            return Err(Problem::too_deep(self.range()));
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    fn token(&self) -> &'t Token {
        self.tokens.get(self.position).or(self.tokens.last()).unwrap_or(&END)
    }

    fn peek(&self) -> &'t TokenKind {
        &self.token().kind
    }

    fn range(&self) -> Range<usize> {
        self.token().range.clone()
    }

    /// Where the last token that was taken ends.
    fn end(&self) -> usize {
        self.position.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.range.end)
    }

    fn takes(&mut self, mark: &str) -> bool {
        let takes = matches!(self.peek(), TokenKind::Mark(found) if *found == mark);
        self.position += usize::from(takes);
        takes
    }

    fn expect(&mut self, mark: &str) -> Result<(), Problem> {
        if self.takes(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let problem = Problem::new(self.range(), format!("expected {wanted}, found {}", self.peek().words()));
        match self.peek() {
            TokenKind::Name(name) if name == "and" => problem.help("use `&&` where both must hold"),
            TokenKind::Name(name) if name == "or" => problem.help("use `||` where one must hold"),
            _ => problem,
        }
    }
}
