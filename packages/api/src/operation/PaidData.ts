import { Uuid } from "@agentos/core"
import { Schema } from "effect"

/** What a paid operation gives, with the id under which its payment is known. */
export const paidData = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, operationId: Uuid.Uuid })

/** What a start-here operation gives: the wallet's access token beside the resource. */
export const provisionedData = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  paidData({ ...fields, authentication: Schema.Struct({ accessToken: Schema.String }) })
