import { ErrorCode, PriceRecord, ServiceId } from "@agentos/core"
import { Schema } from "effect"

export const Method = Schema.Literals(["GET", "POST", "DELETE"])

/** Marks a service that goes beyond the specification of version 1.0.0. Absent from the services of the specification. */
export const Extension = Schema.optionalKey(Schema.Literal(true))

/** A service of the catalog, with everything an agent needs to decide on a call and to make it. */
export const ServiceRecord = Schema.Struct({
  serviceId: ServiceId,
  method: Method,
  path: Schema.String,
  /** Null for a free service. */
  price: Schema.NullOr(PriceRecord),
  authentication: Schema.Literals(["none", "x402-bootstrap", "bearer", "sign-in-with-x", "unavailable"]),
  /** Whether a wallet without a token may begin with it. */
  startHere: Schema.Boolean,
  /** Whether this server offers it. */
  available: Schema.Boolean,
  marketplaceListing: Schema.Boolean,
  extension: Extension,
  guide: Schema.String,
  purpose: Schema.String,
  inputs: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      in: Schema.Literals(["body", "query", "path"]),
      required: Schema.Boolean,
      /** The JSON type of the value. */
      type: Schema.String,
      /** The format of a text: uuid, uri or date-time. */
      format: Schema.optionalKey(Schema.String),
      example: Schema.Json,
      /** Includes the limits and the default. */
      description: Schema.String
    })
  ),
  errors: Schema.Array(ErrorCode),
  nextActions: Schema.Array(
    Schema.Struct({ serviceId: ServiceId, method: Method, path: Schema.String, why: Schema.String })
  )
}).annotate({ identifier: "Service" })
export type ServiceRecord = typeof ServiceRecord.Type
