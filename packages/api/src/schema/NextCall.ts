import { Schema } from "effect"

/** A call to make next. If `body` is missing, the call has no body, or the same one as the failed call. */
export const NextCall = Schema.Struct({
  method: Schema.Literals(["GET", "POST", "DELETE"]).annotateKey({ description: "Method of the call." }),
  path: Schema.String.annotateKey({ description: "Path of the call." }),
  body: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)).annotateKey({
    description: "Body of the call. Absent: it has none, or that of the failed call."
  })
}).annotate({ identifier: "NextCall" })
export type NextCall = typeof NextCall.Type
