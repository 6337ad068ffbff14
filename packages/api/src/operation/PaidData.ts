import { Uuid } from "@agentos/core"
import { Schema } from "effect"

/** The result of a paid operation, with the operation id that identifies its payment. */
export const paidData = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, operationId: Uuid.Uuid })

/** The result of a start-here operation: the resource and the wallet's access token. */
export const provisionedData = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  paidData({ ...fields, authentication: Schema.Struct({ accessToken: Schema.String }) })
