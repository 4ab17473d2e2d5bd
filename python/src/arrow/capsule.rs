//! Arrow arrays from and to Python objects: the PyCapsule protocol of the Arrow C data interface.

#![expect(unsafe_code, reason = "pointers of the C data interface come from other libraries")]

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, StructArray, make_array};
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;
use std::ptr::NonNull;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The rows of an object with `__arrow_c_array__` or `__arrow_c_stream__`, in the parts in which they come.
pub(super) fn import(object: &Bound<'_, PyAny>) -> PyResult<Vec<StructArray>> {
    if object.hasattr("__arrow_c_array__")? {
        let pair = object.call_method0("__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = pair.extract()?;
        let schema: NonNull<FFI_ArrowSchema> = schema.pointer_checked(Some(SCHEMA))?.cast();
        let array: NonNull<FFI_ArrowArray> = array.pointer_checked(Some(ARRAY))?.cast();
        // SAFETY: capsules of these names hold structures of the C data interface; the array is moved out of its capsule,
        // as the protocol says, and the schema is only read while its capsule is there.
        let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
        return Ok(vec![of_rows(&make_array(data.map_err(|e| exception(&e))?))?]);
    }
    if object.hasattr("__arrow_c_stream__")? {
        let capsule: Bound<'_, PyCapsule> = object.call_method0("__arrow_c_stream__")?.extract()?;
        let stream: NonNull<FFI_ArrowArrayStream> = capsule.pointer_checked(Some(STREAM))?.cast();
        // SAFETY: a capsule of this name holds a stream of the C data interface, which is moved out of it.
        let arrays = unsafe { ArrayStreamReader::from_raw(stream.as_ptr()) }.map_err(|e| exception(&e))?;
        return arrays.map(|array| of_rows(&array.map_err(|e| exception(&e))?)).collect();
    }
    let kind = object.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "an Arrow record batch or table is needed (an object with `__arrow_c_array__` or `__arrow_c_stream__`), got {kind}"
    )))
}

fn of_rows(array: &ArrayRef) -> PyResult<StructArray> {
    array.as_any().downcast_ref::<StructArray>().cloned().ok_or_else(|| {
        PyTypeError::new_err(format!(
            "a record batch or structs are needed, got an array of {}",
            array.data_type()
        ))
    })
}

fn exception(error: &ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow data cannot be read: {error}"))
}

/// A record batch for other libraries, such as `pyarrow.record_batch(...)` or `polars.DataFrame(...)`.
#[pyclass(module = "lossdepth._native", frozen)]
pub(crate) struct ArrowBatch {
    rows: StructArray,
}

impl ArrowBatch {
    pub(super) fn new(rows: StructArray) -> Self {
        Self { rows }
    }
}

#[pymethods]
impl ArrowBatch {
    /// Schema and array as capsules; another schema than its own cannot be asked for.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The protocol allows to ignore it.
        let _ = requested_schema;
        let (array, schema) = to_ffi(&self.rows.to_data()).map_err(|e| exception(&e))?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        PyTuple::new(py, [schema, PyCapsule::new_with_value(py, array, ARRAY)?])
    }

    /// The schema as a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.rows.data_type()).map_err(|e| exception(&e))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// How many rows there are.
    fn __len__(&self) -> usize {
        self.rows.len()
    }
}
