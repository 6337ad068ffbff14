import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { postEndpoint } from "./Endpoint.ts"
import { NO_INPUT, operation } from "./Operation.ts"

const signedIn = {
  ...NO_INPUT,
  data: Schema.Struct({ authentication: Schema.Struct({ accessToken: Schema.String }) }),
  status: 200
} as const

export const AUTH_OPERATIONS = {
  recoverToken: operation("recoverToken", signedIn),
  revokeTokens: operation("revokeTokens", signedIn)
}

export const authGroup = HttpApiGroup.make("auth", { topLevel: true })
  .add(postEndpoint(AUTH_OPERATIONS.recoverToken), postEndpoint(AUTH_OPERATIONS.revokeTokens))
  .annotate(OpenApi.Description, "Access tokens, for the wallet that owns them.")
