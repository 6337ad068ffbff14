import { Uuid } from "@agentos/core"
import { Schema } from "effect"
import { NextCall } from "../schema/NextCall.ts"

/** The result of a paid operation, with the operation id that identifies its payment. */
export const paidData = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({
    ...fields,
    operationId: Uuid.Uuid.annotateKey({ description: "Id of the paid operation, which identifies its payment." })
  })

/**
 * How the wallet authenticates from now on: the access token, or the call that returns it, if the wallet had one and the
 * request did not carry it.
 */
const Authentication = Schema.Struct({
  accessToken: Schema.optionalKey(Schema.String).annotateKey({
    description:
      "The token of the paying wallet. Present at its first purchase, and when the request carried the token."
  }),
  next: Schema.optionalKey(NextCall).annotateKey({
    description: "The call that returns the token. Present without accessToken."
  }),
  message: Schema.optionalKey(Schema.String).annotateKey({
    description: "Why the token is not here, for people. Present without accessToken."
  })
}).annotate({ identifier: "Authentication" })

/** The result of a start-here operation: the resource, and the wallet's access token or how to get it. */
export const provisionedData = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  paidData({
    ...fields,
    authentication: Authentication.annotateKey({ description: "How the wallet authenticates from now on." })
  })
