import { Uuid } from "@agentos/core"
import { Schema } from "effect"

/** The envelope of every successful response: the data, the request's id and the link to the operation's guide. */
export const successEnvelope = <Data extends Schema.Constraint>(data: Data) =>
  Schema.Struct({ data, requestId: Uuid.Uuid, guide: Schema.String })
