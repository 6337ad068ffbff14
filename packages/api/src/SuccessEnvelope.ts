import { Uuid } from "@agentos/core"
import { Schema } from "effect"

/** Every answer that is a success: what was asked for, the request's id and where the operation is explained. */
export const successEnvelope = <Data extends Schema.Constraint>(data: Data) =>
  Schema.Struct({ data, requestId: Uuid.Uuid, guide: Schema.String })
