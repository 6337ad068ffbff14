import { Uuid } from "@agentos/core"
import { Schema } from "effect"

/** The envelope of every successful response: the data, the request's id and the link to the operation's guide. */
export const successEnvelope = <Data extends Schema.Top>(data: Data) =>
  Schema.Struct({
    data: data.annotateKey({ description: "The result." }),
    requestId: Uuid.Uuid.annotateKey({ description: "Id of the request, also in X-Request-Id and the server's log." }),
    guide: Schema.String.annotateKey({ description: "Path of the guide to the operation." })
  })
