import { Schema } from "effect"
import { ACCESS_TOKEN } from "../example/ResourceExamples.ts"
import { NO_INPUT, operation } from "./Operation.ts"

const signedIn = {
  ...NO_INPUT,
  data: Schema.Struct({ authentication: Schema.Struct({ accessToken: Schema.String }) }),
  status: 200,
  example: { data: { authentication: { accessToken: ACCESS_TOKEN } } }
} as const

const SIGN_IN =
  "The first request returns 402 with a message to sign in its PAYMENT-REQUIRED header: x402's extension sign-in-with-x, without payment terms. Sign it with the wallet, then repeat the request with SIGN-IN-WITH-X."

export const AUTH_OPERATIONS = {
  recoverToken: operation("recoverToken", {
    ...signedIn,
    description: `Use it when the token is lost. ${SIGN_IN} The first sign-in of a wallet replaces the token that its first purchase returned, and pauses its event webhook, unless the request carries that token.`
  }),
  revokeTokens: operation("revokeTokens", {
    ...signedIn,
    description: `Use it when someone else may know a token. ${SIGN_IN} Older access tokens, realtime tokens and realtime sessions end on every server within 5 seconds. Paid requests that were already accepted are still fulfilled. The event webhook stays: set it with rotateSecret if someone else may know its secret.`
  })
}
