# The columns of a matrix or data frame as the native code takes them: name, what they hold, values, levels. `kinds` is
# completed by what the types of columns say.
as_columns <- function(x, kinds = NULL, what = "x") {
  named <- TRUE
  if (is.data.frame(x)) {
    columns <- as.list(x)
  } else if (is.atomic(x) && !is.null(x) && length(dim(x)) <= 2L && !is.complex(x) && !is.raw(x)) {
    if (is.null(dim(x)) || length(dim(x)) == 1L) {
      x <- matrix(as.vector(x), ncol = 1L)
    }
    columns <- lapply(seq_len(ncol(x)), function(j) as.vector(x[, j]))
    named <- !is.null(colnames(x))
    names(columns) <- if (named) colnames(x) else as.character(seq_len(ncol(x)))
  } else {
    fail("`", what, "` must be a matrix or a data frame, got ", class(x)[1L])
  }
  if (length(columns) == 0L) {
    fail("`", what, "` has no columns")
  }
  names <- names(columns)
  twice <- unique(names[duplicated(names)])
  if (length(twice) || anyNA(names) || !all(nzchar(names))) {
    fail("the columns of `", what, "` need names that differ",
         if (length(twice)) paste0("; more than one is called `", twice[1L], "`"))
  }
  kinds <- as.list(kinds)
  if (length(kinds) && is.null(names(kinds))) {
    fail('`kinds` must have the names of columns, as in c(zip = "category")')
  }
  held <- Map(held_by, columns, names)
  for (name in names[vapply(columns, is.factor, NA)]) {
    if (is.null(kinds[[name]])) {
      kinds[[name]] <- "category"
    }
  }
  given <- lapply(names, function(name) c(list(enc2utf8(name)), held[[name]]))
  list(columns = given, kinds = kinds, named = named, rows = length(columns[[1L]]), names = names)
}

# What a column holds: the word for it, the values, and the levels.
held_by <- function(column, name) {
  if (is.factor(column)) {
    return(list("texts", as.integer(column), enc2utf8(levels(column))))
  }
  if (inherits(column, "POSIXlt")) {
    column <- as.POSIXct(column)
  }
  if (inherits(column, "Date")) {
    return(list("times", as.double(unclass(column)) * 86400, NULL))
  }
  if (inherits(column, "POSIXct")) {
    return(list("times", as.double(unclass(column)), NULL))
  }
  if (inherits(column, "difftime")) {
    return(list("numbers", as.double(column, units = "days"), NULL))
  }
  if (is.null(dim(column)) && !inherits(column, "integer64")) {
    if (is.logical(column)) {
      # A column of gaps alone has this type too; the native code leaves it out either way.
      return(list("booleans", as.logical(column), NULL))
    }
    if (is.numeric(column)) {
      return(list("numbers", as.double(column), NULL))
    }
    if (is.character(column)) {
      levels <- unique(column[!is.na(column)])
      return(list("texts", match(column, levels), enc2utf8(as.character(levels))))
    }
  }
  fail("column `", name, "` must hold numbers, texts, factors, truth values, dates or times, got ", class(column)[1L])
}

# The names of rows, if they were given rather than counted.
row_labels <- function(x) {
  if (is.data.frame(x) && .row_names_info(x) <= 0L) {
    return(NULL)
  }
  if (is.data.frame(x) || is.matrix(x)) rownames(x)
}

# Numbers for all rows where some rows were left out.
at_rows <- function(values, rows, count, labels) {
  result <- rep(values[NA_integer_], count)
  result[rows] <- values
  if (length(labels) == count) {
    names(result) <- labels
  }
  result
}
