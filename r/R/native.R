# The one door to the native code. Functions there do not raise errors: they return what went wrong, and it is raised
# here.
answer <- function(value) {
  if (!inherits(value, "lossdepth_failure")) {
    return(value)
  }
  if (value$interrupted) {
    signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    invokeRestart("abort")
  }
  stop(errorCondition(value$message, class = "lossdepth_error"))
}

fail <- function(...) {
  stop(errorCondition(paste0(...), class = "lossdepth_error"))
}

threads_to_use <- function() {
  said <- getOption("lossdepth.threads")
  if (is.null(said) && tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_", "false")) %in% c("true", "warn")) {
    said <- 2
  }
  said
}

# The model of an object. A pointer does not survive `saveRDS()` or another process; the bytes do.
pointer <- function(object) {
  if (!.Call(wrap__native_is_alive, object$state$model)) {
    object$state$model <- answer(.Call(wrap__native_from_bytes, object$bytes))
  }
  object$state$model
}
