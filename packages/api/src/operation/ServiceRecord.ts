import { ErrorCode, PriceRecord, ServiceId } from "@agentos/core"
import { Schema } from "effect"

export const Method = Schema.Literals(["GET", "POST", "DELETE"])

/** Marks a service that goes beyond the specification of version 1.0.0. */
export const Extension = Schema.optionalKey(Schema.Literal(true)).annotateKey({
  description: "Present if the service goes beyond the specification of version 1.0.0."
})

/** A service of the catalog, with everything an agent needs to decide on a call and to make it. */
export const ServiceRecord = Schema.Struct({
  serviceId: ServiceId.annotateKey({ description: "Id of the service." }),
  method: Method.annotateKey({ description: "Method of the call." }),
  path: Schema.String.annotateKey({ description: "Path of the call, with `{parameter}` for variable parts." }),
  price: Schema.NullOr(PriceRecord).annotateKey({ description: "Price of one call; null for a free service." }),
  authentication: Schema.Literals(["none", "x402-bootstrap", "bearer", "sign-in-with-x", "unavailable"]).annotateKey({
    description:
      "none: no token. x402-bootstrap: the payment identifies the wallet. bearer: the access token. sign-in-with-x: a message that the wallet signs. unavailable: no client may call it."
  }),
  startHere: Schema.Boolean.annotateKey({ description: "Whether a wallet without a token may begin with it." }),
  available: Schema.Boolean.annotateKey({ description: "Whether this server offers it." }),
  marketplaceListing: Schema.Boolean.annotateKey({
    description: "Whether directories list it: it is paid and available."
  }),
  extension: Extension,
  guide: Schema.String.annotateKey({ description: "Path of the guide." }),
  purpose: Schema.String.annotateKey({ description: "What the service does, as a sentence." }),
  inputs: Schema.Array(
    Schema.Struct({
      name: Schema.String.annotateKey({ description: "Name of the input." }),
      in: Schema.Literals(["body", "query", "path"]).annotateKey({ description: "Place of the input." }),
      required: Schema.Boolean.annotateKey({ description: "Whether the input is required." }),
      type: Schema.String.annotateKey({ description: "JSON type of the value; empty for an object." }),
      format: Schema.optionalKey(Schema.String).annotateKey({
        description: "Format of a text: email, uuid, uri or date-time. Absent without one."
      }),
      example: Schema.Json.annotateKey({ description: "A valid value; null without an example." }),
      description: Schema.String.annotateKey({ description: "Meaning of the input, with its limits and default." })
    })
  ).annotateKey({ description: "The inputs: of the path, the query and the body." }),
  errors: Schema.Array(ErrorCode).annotateKey({ description: "The error codes that a call may return." }),
  nextActions: Schema.Array(
    Schema.Struct({
      serviceId: ServiceId.annotateKey({ description: "Id of the service." }),
      method: Method.annotateKey({ description: "Method of the call." }),
      path: Schema.String.annotateKey({ description: "Path of the call." }),
      why: Schema.String.annotateKey({ description: "The reason to call it next." })
    })
  ).annotateKey({ description: "Services to call next." })
}).annotate({ identifier: "Service" })
export type ServiceRecord = typeof ServiceRecord.Type
