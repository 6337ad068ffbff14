import { Uuid } from "@agentos/core"
import { Schema } from "effect"
import { NextCall } from "../schema/NextCall.ts"

/** The result of a paid operation, with the operation id that identifies its payment. */
export const paidData = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, operationId: Uuid.Uuid })

/**
 * How the wallet authenticates from now on: the access token, or the call that returns it, if the wallet had one and the
 * request did not carry it.
 */
const Authentication = Schema.Struct({
  accessToken: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "The token of the paying wallet. Present at its first purchase, and when the request carried the token."
    })
  ),
  next: Schema.optionalKey(NextCall),
  message: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "Authentication" })

/** The result of a start-here operation: the resource, and the wallet's access token or how to get it. */
export const provisionedData = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  paidData({ ...fields, authentication: Authentication })
