import { OPERATIONS } from "@agentos/api"
import { TokenRecovery } from "@agentos/core"
import { Effect, Redacted } from "effect"
import { signInRoute } from "../operation/FreeRoute.ts"

const toData = (accessToken: Redacted.Redacted<string>) => ({
  authentication: { accessToken: Redacted.value(accessToken) }
})

export const routes = Effect.gen(function* () {
  const recovery = yield* TokenRecovery
  return [
    signInRoute(recovery, OPERATIONS.recoverToken, (signedIn, held) =>
      Effect.map(recovery.recover(signedIn, held), toData)
    ),
    signInRoute(recovery, OPERATIONS.revokeTokens, (signedIn) => Effect.map(recovery.revoke(signedIn), toData))
  ] as const
})
