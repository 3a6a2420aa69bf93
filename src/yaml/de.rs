//! Nodes as a serde data format: strict about types, and every error with its place.

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::field_error::{FieldError, Step};
use super::node::{Entry, Node, Value};

/// Reads one node; knows the way to it.
pub(super) struct NodeDeserializer<'de, 's> {
    pub node: &'de Node,
    pub steps: &'s mut Vec<Step>,
}

type Result<T> = std::result::Result<T, FieldError>;

impl<'de> NodeDeserializer<'de, '_> {
    fn visit<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(value) => visitor.visit_i64(*value),
            Value::UInt(value) => visitor.visit_u64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Sequence(elements) => {
                visitor.visit_seq(Elements { left: elements.iter().enumerate(), steps: self.steps })
            }
            Value::Mapping(entries) => {
                visitor.visit_map(Entries { left: entries.iter(), value: None, steps: self.steps })
            }
        }
    }

    /// An error of serde's own says what it got by type only; what was written says more.
    fn place<T>(self, result: Result<T>) -> Result<T> {
        result.map_err(|mut error| {
            if !error.placed && error.message.starts_with("invalid type") {
                let wanted = error.message.split_once("expected ").map_or("", |(_, wanted)| wanted);
                let wanted = match wanted {
                    "i32" | "i64" => "a whole number",
                    "a boolean" => "true or false",
                    other => other,
                };
                error.message = format!("expected {wanted}, got {}", self.node.describe());
                if matches!(self.node.value, Value::Bool(_) | Value::Int(_) | Value::Float(_)) {
                    error.help = format!("if a string is meant, write \"{}\" in quotes", self.node.text());
                }
            }
            error.at(self.steps, self.node.location)
        })
    }
}

impl<'de> Deserializer<'de> for NodeDeserializer<'de, '_> {
    type Error = FieldError;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let result = self.visit(visitor);
        self.place(result)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.node.value == Value::Null { visitor.visit_none() } else { visitor.visit_some(self) }
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
        let result = match &self.node.value {
            Value::String(text) => visitor.visit_enum(Word(text)),
            _ => Err(FieldError::custom(format_args!("expected a word, got {}", self.node.describe()))),
        };
        self.place(result)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier
    }
}

struct Elements<'de, 's> {
    left: std::iter::Enumerate<std::slice::Iter<'de, Node>>,
    steps: &'s mut Vec<Step>,
}

impl<'de> SeqAccess<'de> for Elements<'de, '_> {
    type Error = FieldError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some((index, node)) = self.left.next() else { return Ok(None) };
        self.steps.push(Step::Index(index));
        let result = seed.deserialize(NodeDeserializer { node, steps: self.steps });
        let result = result.map_err(|error| error.at(self.steps, node.location));
        self.steps.pop();
        result.map(Some)
    }
}

struct Entries<'de, 's> {
    left: std::slice::Iter<'de, Entry>,
    value: Option<&'de Entry>,
    steps: &'s mut Vec<Step>,
}

impl<'de> MapAccess<'de> for Entries<'de, '_> {
    type Error = FieldError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some(entry) = self.left.next() else { return Ok(None) };
        self.value = Some(entry);
        let key: StrDeserializer<'_, FieldError> = entry.key.as_str().into_deserializer();
        self.steps.push(Step::Key(entry.key.clone()));
        let result = seed.deserialize(key).map_err(|error| error.at(self.steps, entry.key_location));
        self.steps.pop();
        result.map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let entry = self.value.take().ok_or_else(|| FieldError::custom("a value without a key"))?;
        self.steps.push(Step::Key(entry.key.clone()));
        let result = seed.deserialize(NodeDeserializer { node: &entry.value, steps: self.steps });
        let result = result.map_err(|error| error.at(self.steps, entry.value.location));
        self.steps.pop();
        result
    }
}

/// The variant of an enum, which is a word.
struct Word<'de>(&'de str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = FieldError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        let word: StrDeserializer<'_, FieldError> = self.0.into_deserializer();
        Ok((seed.deserialize(word)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = FieldError;

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
