//! Decodes an AdmissionReview: the header, and of the object only what rules read.
//!
//! One pass over the body suffices where the kind stands before the object, as the API server writes it.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::outcome::{ErrorReason, ReviewError};
use crate::json;
use crate::subject::{Pod, Text, Workload};

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// A request, as far as it is read.
#[derive(Debug, Default)]
pub(super) struct Request<'a> {
    pub uid: Text<'a>,
    pub kind: GroupVersionKind<'a>,
    pub sub_resource: Text<'a>,
    pub name: Text<'a>,
    pub namespace: Text<'a>,
    pub operation: Text<'a>,
    pub object: Object<'a>,
    pub old_object: Object<'a>,
}

/// A kind with its group and version.
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct GroupVersionKind<'a> {
    pub group: Text<'a>,
    pub version: Text<'a>,
    pub kind: Text<'a>,
}

/// An object of a request.
#[derive(Debug, Default)]
pub(super) enum Object<'a> {
    /// Absent, null, or not read.
    #[default]
    None,
    Pod(Box<Pod<'a>>),
    Workload(Box<Workload<'a>>),
}

/// How to read the objects of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// By the kind that stands before them.
    ByKind,
    Skip,
    Pod,
    Workload,
}

impl GroupVersionKind<'_> {
    fn shape(&self) -> Shape {
        match (self.group.as_str(), self.version.as_str(), self.kind.as_str()) {
            ("", "v1", "Pod") => Shape::Pod,
            ("apps", "v1", "StatefulSet" | "Deployment") => Shape::Workload,
            _ => Shape::Skip,
        }
    }
}

impl Request<'_> {
    /// Whether it is one that sundown judges: the creation of a pod, or the creation or update of a workload.
    pub(super) fn is_ours(&self) -> bool {
        let operation = self.operation.as_str();
        self.sub_resource.is_empty()
            && match self.kind.shape() {
                Shape::Pod => operation == "CREATE",
                Shape::Workload => matches!(operation, "CREATE" | "UPDATE"),
                _ => false,
            }
    }
}

/// Decodes a body.
///
/// # Errors
/// When it is no AdmissionReview of v1, or when an object that would be judged does not parse.
pub(super) fn decode(body: &[u8]) -> Result<Request<'_>, ReviewError> {
    match envelope(body, Shape::ByKind) {
        Ok(envelope) if envelope.objects_before_kind => {
            let shape = check(envelope)?.kind.shape();
            check(envelope_or_error(body, shape)?)
        }
        Ok(envelope) => check(envelope),
        Err(error) => {
            // What is not ours to judge is allowed, even if its object does not parse.
            let request = check(envelope_or_error(body, Shape::Skip)?)?;
            if request.is_ours() { Err(object_error(&error)) } else { Ok(request) }
        }
    }
}

fn envelope(body: &[u8], shape: Shape) -> Result<Envelope<'_>, json::Error> {
    json::from_slice_seed(body, EnvelopeSeed(shape))
}

fn envelope_or_error(body: &[u8], shape: Shape) -> Result<Envelope<'_>, ReviewError> {
    envelope(body, shape).map_err(|error| match shape {
        Shape::Pod | Shape::Workload => object_error(&error),
        _ if error.is_data() => failure(ErrorReason::NotAReview, format!("not an AdmissionReview: {error}")),
        _ => failure(ErrorReason::Json, format!("the body is not JSON: {error}")),
    })
}

fn failure(reason: ErrorReason, message: String) -> ReviewError {
    ReviewError { reason, message }
}

fn object_error(error: &json::Error) -> ReviewError {
    failure(ErrorReason::Object, format!("the object does not parse: {error}"))
}

fn check(envelope: Envelope<'_>) -> Result<Request<'_>, ReviewError> {
    if envelope.kind != KIND {
        let message = format!("kind is {:?}: want {KIND}", clip(&envelope.kind));
        return Err(failure(ErrorReason::NotAReview, message));
    }
    if envelope.api_version != API_VERSION {
        let message = format!("apiVersion is {:?}: want {API_VERSION}", clip(&envelope.api_version));
        return Err(failure(ErrorReason::Version, message));
    }
    let missing = |what: &str| failure(ErrorReason::NotAReview, format!("the AdmissionReview has no {what}"));
    let request = envelope.request.ok_or_else(|| missing("request"))?;
    if request.uid.is_empty() {
        return Err(missing("request.uid"));
    }
    Ok(request)
}

fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}

#[derive(Debug, Default)]
struct Envelope<'a> {
    api_version: Text<'a>,
    kind: Text<'a>,
    request: Option<Request<'a>>,
    objects_before_kind: bool,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Field {
    ApiVersion,
    Kind,
    Request,
    Uid,
    SubResource,
    Name,
    Namespace,
    Operation,
    Object,
    OldObject,
    #[serde(other)]
    Other,
}

/// Refuses a member that is there twice: which of the two the API server means cannot be told.
#[derive(Default)]
struct Seen(u16);

impl Seen {
    fn once<E: Error>(&mut self, field: Field) -> Result<(), E> {
        let bit = 1u16 << field as u16;
        if field != Field::Other && self.0 & bit != 0 {
            return Err(E::custom("a member is there twice"));
        }
        self.0 |= bit;
        Ok(())
    }
}

struct EnvelopeSeed(Shape);

impl<'de> DeserializeSeed<'de> for EnvelopeSeed {
    type Value = Envelope<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EnvelopeSeed {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an AdmissionReview")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        let mut seen = Seen::default();
        while let Some(field) = map.next_key::<Field>()? {
            seen.once(field)?;
            match field {
                Field::ApiVersion => envelope.api_version = map.next_value()?,
                Field::Kind => envelope.kind = map.next_value()?,
                Field::Request => {
                    let seed = RequestSeed { shape: self.0, before_kind: &mut envelope.objects_before_kind };
                    envelope.request = map.next_value_seed(seed)?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(envelope)
    }
}

struct RequestSeed<'s> {
    shape: Shape,
    before_kind: &'s mut bool,
}

impl<'de> DeserializeSeed<'de> for RequestSeed<'_> {
    type Value = Option<Request<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RequestSeed<'_> {
    type Value = Option<Request<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut request = Request::default();
        let mut seen = Seen::default();
        let mut kind_is_known = false;
        while let Some(field) = map.next_key::<Field>()? {
            seen.once(field)?;
            let shape = match self.shape {
                Shape::ByKind if kind_is_known => request.kind.shape(),
                Shape::ByKind => Shape::Skip,
                given => given,
            };
            match field {
                Field::Uid => request.uid = map.next_value()?,
                Field::Kind => {
                    request.kind = map.next_value::<Option<_>>()?.unwrap_or_default();
                    kind_is_known = true;
                }
                Field::SubResource => request.sub_resource = map.next_value()?,
                Field::Name => request.name = map.next_value()?,
                Field::Namespace => request.namespace = map.next_value()?,
                Field::Operation => request.operation = map.next_value()?,
                Field::Object | Field::OldObject => {
                    *self.before_kind |= self.shape == Shape::ByKind && !kind_is_known;
                    // The old version of a pod is never looked at.
                    let unread = field == Field::OldObject && shape == Shape::Pod;
                    let object = map.next_value_seed(ObjectSeed(if unread { Shape::Skip } else { shape }))?;
                    if field == Field::Object {
                        request.object = object;
                    } else {
                        request.old_object = object;
                    }
                }
                Field::ApiVersion | Field::Request | Field::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Some(request))
    }
}

struct ObjectSeed(Shape);

impl<'de> DeserializeSeed<'de> for ObjectSeed {
    type Value = Object<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Ok(match self.0 {
            Shape::Pod => Option::deserialize(deserializer)?.map_or(Object::None, Object::Pod),
            Shape::Workload => Option::deserialize(deserializer)?.map_or(Object::None, Object::Workload),
            Shape::Skip | Shape::ByKind => {
                IgnoredAny::deserialize(deserializer)?;
                Object::None
            }
        })
    }
}
