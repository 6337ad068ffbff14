import { CATALOG, type Condition, type ConditionSource, Timestamp, Usdt } from "@agentos/core"
import type { NetworkConfig } from "@agentos/x402"
import { Clock, Effect } from "effect"
import type { MailConfig } from "../config/MailConfig.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"

/** Chains count each read. */
const WALLETS_EVERY = "5 minutes"
const CERTIFICATES_EVERY = "1 hour"

/** A refund wallet with less can't pay every refund. */
export const largestPrice = CATALOG.reduce(
  (largest, { price }) => (price !== null && price > largest ? price : largest),
  0n
)

/** Finds wallets that can't pay. Fails if a chain does not answer. */
const walletConditions = (config: NetworkConfig) =>
  Effect.gen(function* () {
    const { asset, facilitator: kind, name, network } = config
    // Its libraries take most of the memory.
    const { configuredChecks } = yield* Effect.promise(() => import("@agentos/x402"))
    const { facilitator, refund } = yield* configuredChecks(config)
    const found = yield* refund
    const wallets: Array<Condition> = []
    if (found !== undefined && found.priceUnits < largestPrice)
      wallets.push({
        kind: "wallet_low",
        subject: `refund wallet ${network} ${asset}`,
        summary: `The refund wallet ${found.wallet} holds ${Usdt.toDecimal(found.priceUnits)} ${name}. A refund takes up to ${Usdt.toDecimal(largestPrice)}.`,
        action: `Send ${name} on ${network} to it. It needs no native coin.`
      })
    if (kind.kind !== "self") return wallets
    const problem = yield* Effect.matchEffect(facilitator, {
      onSuccess: () => Effect.succeed(undefined),
      onFailure: (error) => (error.reason === "Misconfigured" ? Effect.succeed(error.message) : Effect.fail(error))
    })
    if (problem === undefined) return wallets
    return [
      ...wallets,
      {
        kind: "wallet_low",
        subject: `gas wallet ${network} ${asset}`,
        summary: problem,
        action: "Send the chain's native coin to the gas wallet, or raise maxFeePerGasGwei in AGENTOS_NETWORKS."
      } satisfies Condition
    ]
  })

/** Finds a certificate that has expired or does soon. Reads its files anew, because they may have been renewed. */
const certificateConditions = (mail: MailConfig) =>
  Effect.gen(function* () {
    const { configuredCertificate, SOON_DAYS } = yield* Effect.promise(() => import("./MailIntake.ts"))
    const configured = yield* configuredCertificate(mail)
    if (configured === undefined) return []
    // Whatever else is wrong with it: an incident must not end because the certificate has expired.
    const { expiresAt = 0 } = configured.report
    const now = yield* Clock.currentTimeMillis
    if (expiresAt >= now + SOON_DAYS * Timestamp.DAY) return []
    const verb = expiresAt <= now ? "expired" : "expires"
    return [
      {
        kind: "certificate_expiring",
        subject: "smtp",
        summary: `The certificate of the SMTP listener ${verb} on ${new Date(expiresAt).toISOString()}.`,
        action: "Renew it: replace its files."
      } satisfies Condition
    ]
  })

/** The conditions that depend on the configuration: low wallets and expiring certificates. */
export const hostConditions = ({ mail, networks }: ServerConfig): Effect.Effect<ReadonlyArray<ConditionSource>> =>
  Effect.gen(function* () {
    const wallets = Effect.map(Effect.forEach(networks, walletConditions, { concurrency: "unbounded" }), (each) =>
      each.flat()
    )
    const certificates = mail === undefined ? Effect.succeed([]) : certificateConditions(mail)
    return [
      { kinds: ["wallet_low"], find: yield* Effect.cachedWithTTL(wallets, WALLETS_EVERY) },
      { kinds: ["certificate_expiring"], find: yield* Effect.cachedWithTTL(certificates, CERTIFICATES_EVERY) }
    ]
  })
