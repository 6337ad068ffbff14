import { Schema } from "effect"

/** A call to make next. If `body` is missing, the call has no body, or the same one as the failed call. */
export const NextCall = Schema.Struct({
  method: Schema.Literals(["GET", "POST", "DELETE"]),
  path: Schema.String,
  body: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
}).annotate({ identifier: "NextCall" })
export type NextCall = typeof NextCall.Type
