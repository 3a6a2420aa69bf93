//! The deserializer.

use std::fmt;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::skip;

/// Deepest nesting of what is read, as in serde_json; what is skipped may be as deep as it likes.
const DEEPEST: u8 = 127;

/// What is said of a list that stands where an object must.
pub(super) const LIST_FOR_OBJECT: &str = "expected an object, found a list";

/// Why a body does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    /// Offset of the byte where it was noticed.
    offset: usize,
    is_data: bool,
}

impl Error {
    /// It is JSON, but not of the shape that is wanted.
    pub fn is_data(&self) -> bool {
        self.is_data
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.offset)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), offset: 0, is_data: true }
    }
}

type Result<T> = std::result::Result<T, Error>;

/// Reads a value; nothing but blanks may stand behind it.
///
/// # Errors
/// When the body is not JSON as far as it is read, or not of the type.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    from_slice_seed(bytes, std::marker::PhantomData)
}

/// The same with a seed.
///
/// # Errors
/// As [`from_slice`].
pub fn from_slice_seed<'de, S: DeserializeSeed<'de>>(bytes: &'de [u8], seed: S) -> Result<S::Value> {
    let mut parser = Parser { bytes, at: 0, depth: 0 };
    let value = seed.deserialize(&mut parser).map_err(|error| parser.place(error))?;
    if parser.peek().is_some() {
        return Err(parser.syntax("trailing characters"));
    }
    Ok(value)
}

struct Parser<'de> {
    bytes: &'de [u8],
    at: usize,
    depth: u8,
}

impl<'de> Parser<'de> {
    fn syntax(&self, message: &str) -> Error {
        Error { message: message.to_owned(), offset: self.at, is_data: false }
    }

    /// An error that does not know its place is where reading stands.
    fn place(&self, error: Error) -> Error {
        if error.offset == 0 { Error { offset: self.at, ..error } } else { error }
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    fn expect(&mut self, wanted: u8, message: &str) -> Result<()> {
        if self.peek() != Some(wanted) {
            return Err(self.syntax(message));
        }
        self.at += 1;
        Ok(())
    }

    fn literal(&mut self, text: &str) -> Result<()> {
        let end = self.at + text.len();
        if self.bytes.get(self.at..end) != Some(text.as_bytes()) {
            return Err(self.syntax("expected true, false or null"));
        }
        self.at = end;
        Ok(())
    }

    /// The token of a number, up to the first byte that cannot belong to one.
    fn number(&mut self) -> &'de [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let belongs = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// The token of the string whose opening quote is next, quotes and all, and whether it holds escapes.
    fn string_token(&mut self) -> Result<(&'de [u8], bool)> {
        let start = self.at;
        let Some(ending) = skip::string(self.bytes, start + 1) else {
            return Err(self.syntax("a string does not end"));
        };
        if ending.has_controls {
            return Err(self.syntax("control character in a string"));
        }
        self.at = ending.end;
        Ok((self.bytes.get(start..ending.end).unwrap_or_default(), ending.has_escapes))
    }

    /// The string whose opening quote is next.
    fn string(&mut self) -> Result<Text<'de>> {
        let (token, has_escapes) = self.string_token()?;
        if has_escapes {
            // Rare enough to let serde_json say what escapes mean.
            return serde_json::from_slice(token).map(Text::Owned).map_err(|error| self.foreign(&error));
        }
        let text = unquoted(token);
        std::str::from_utf8(text).map(Text::Borrowed).map_err(|_| self.syntax("a string is not UTF-8"))
    }

    fn foreign(&self, error: &serde_json::Error) -> Error {
        let message = error.to_string();
        self.syntax(message.split(" at line ").next().unwrap_or_default())
    }

    fn skip(&mut self) -> Result<()> {
        let Some(first) = self.peek() else { return Err(self.syntax("the body ends too early")) };
        let end = match first {
            b'{' | b'[' => skip::container(self.bytes, self.at + 1),
            b'"' => skip::string(self.bytes, self.at + 1).map(|ending| ending.end),
            _ => return self.scalar(de::IgnoredAny).map(drop),
        };
        match end {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            None => Err(self.syntax("the body ends inside a value")),
        }
    }

    /// null, a boolean or a number.
    fn scalar<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.bytes.get(self.at) {
            Some(b'n') => self.literal("null").and_then(|()| visitor.visit_unit()),
            Some(b't') => self.literal("true").and_then(|()| visitor.visit_bool(true)),
            Some(b'f') => self.literal("false").and_then(|()| visitor.visit_bool(false)),
            Some(b'-' | b'0'..=b'9') => {
                let token = self.number();
                let number: serde_json::Number =
                    serde_json::from_slice(token).map_err(|error| self.foreign(&error))?;
                match (number.as_u64(), number.as_i64(), number.as_f64()) {
                    (Some(number), _, _) => visitor.visit_u64(number),
                    (None, Some(number), _) => visitor.visit_i64(number),
                    (None, None, number) => visitor.visit_f64(number.unwrap_or(f64::NAN)),
                }
            }
            Some(_) => Err(self.syntax("expected a value")),
            None => Err(self.syntax("the body ends too early")),
        }
    }

    fn enter(&mut self) -> Result<()> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST { Err(self.syntax("nested too deeply")) } else { Ok(()) }
    }

    /// Leaves a container whose visitor may have stopped early.
    fn leave(&mut self, closing: u8) -> Result<()> {
        self.depth -= 1;
        self.expect(closing, "expected the end of a list or object")
    }
}

/// A string token without its quotes.
fn unquoted(token: &[u8]) -> &[u8] {
    token.get(1..token.len() - 1).unwrap_or_default()
}

enum Text<'de> {
    Borrowed(&'de str),
    Owned(String),
}

impl<'de> Deserializer<'de> for &mut Parser<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let result = match self.peek() {
            Some(b'"') => match self.string()? {
                Text::Borrowed(text) => visitor.visit_borrowed_str(text),
                Text::Owned(text) => visitor.visit_string(text),
            },
            Some(b'{') => {
                self.enter()?;
                let value = visitor.visit_map(Members { parser: self, first: true })?;
                self.leave(b'}')?;
                Ok(value)
            }
            Some(b'[') => {
                self.enter()?;
                let value = visitor.visit_seq(Elements { parser: self, first: true })?;
                self.leave(b']')?;
                Ok(value)
            }
            _ => self.scalar(visitor),
        };
        result.map_err(|error| self.place(error))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.peek() == Some(b'n') {
            self.literal("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(Word(self))
    }

    /// Derived code would take a list for a struct, field by field; here an object must be one.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if self.peek() == Some(b'[') {
            return Err(self.place(de::Error::custom(LIST_FOR_OBJECT)));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier
    }
}

struct Members<'p, 'de> {
    parser: &'p mut Parser<'de>,
    first: bool,
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let next = self.parser.peek();
        if next == Some(b'}') {
            return Ok(None);
        }
        if !std::mem::take(&mut self.first) {
            self.parser.expect(b',', "expected , or }")?;
        }
        if self.parser.peek() != Some(b'"') {
            return Err(self.parser.syntax("expected a key in quotes"));
        }
        let key = seed.deserialize(Key(self.parser));
        let key = key.map_err(|error| self.parser.place(error))?;
        self.parser.expect(b':', "expected :")?;
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(&mut *self.parser)
    }
}

/// A key: the name of a field is compared byte by byte, so it need not be read as text.
struct Key<'p, 'de>(&'p mut Parser<'de>);

impl<'de> Deserializer<'de> for Key<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.string()? {
            Text::Borrowed(text) => visitor.visit_borrowed_str(text),
            Text::Owned(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.at;
        let (token, has_escapes) = self.0.string_token()?;
        if has_escapes {
            self.0.at = start;
            return self.deserialize_any(visitor);
        }
        visitor.visit_borrowed_bytes(unquoted(token))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum ignored_any
    }
}

struct Elements<'p, 'de> {
    parser: &'p mut Parser<'de>,
    first: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if self.parser.peek() == Some(b']') {
            return Ok(None);
        }
        if !std::mem::take(&mut self.first) {
            self.parser.expect(b',', "expected , or ]")?;
            if self.parser.peek() == Some(b']') {
                return Err(self.parser.syntax("a comma before the end"));
            }
        }
        seed.deserialize(&mut *self.parser).map(Some)
    }
}

/// The variant of an enum, which is a word.
struct Word<'p, 'de>(&'p mut Parser<'de>);

impl<'de> EnumAccess<'de> for Word<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        if self.0.peek() != Some(b'"') {
            return Err(de::Error::custom("expected a word"));
        }
        Ok((seed.deserialize(&mut *self.0)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value> {
        Err(de::Error::custom("expected a word"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value> {
        Err(de::Error::custom("expected a word"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value> {
        Err(de::Error::custom("expected a word"))
    }
}
