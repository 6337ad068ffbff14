import type { DatabaseDiagnosis, Setup } from "@agentos/agentos"
import { type Check, failed, type Finding, passed, skipped, warned } from "@agentos/node/command-line"
import { type OpenOperations, ProviderError, Usdt } from "@agentos/core"
import { configuredChecks, type NetworkConfig } from "@agentos/x402"
import { Effect, Predicate, Redacted } from "effect"
import { largestPrice } from "../program/HostConditions.ts"
import { schemaOf } from "../program/Maintenance.ts"
import { explain } from "../output/ProgramOutput.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"

/** Time limit of each check. They run at the same time. */
const LIMIT_SECONDS = 10

type NamedCheck = readonly [name: string, check: Effect.Effect<Finding>]

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

/** Describes a failure in one line, with the system error that caused it. */
const problemOf = (error: unknown): string => {
  if (!(error instanceof ProviderError)) return explain(error)
  const { cause, message } = error
  const source = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const detail = source instanceof Error ? source.message || codeOf(source) || "" : ""
  return message.includes(detail) ? message : `${message} ${detail.replaceAll(/\s+/g, " ")}`
}

/** Whether a database can't serve: it says itself why, and what to change. */
const isUnsuitable = (error: unknown): error is { readonly problem: string; readonly fix: string } =>
  Predicate.isTagged(error, "DatabaseUnsuitable")

/** Turns the failure of a check into a finding. */
const orFailed = <A>(
  check: Effect.Effect<A, unknown>,
  found: (value: A) => Finding,
  fix: (error: unknown) => string
): Effect.Effect<Finding> =>
  Effect.match(check, {
    onSuccess: found,
    onFailure: (error) =>
      isUnsuitable(error) ? failed(error.problem, error.fix) : failed(problemOf(error), fix(error))
  }).pipe(Effect.catchDefect((error) => Effect.succeed(failed(explain(error), fix(error)))))

const DATABASE_FIXES: Readonly<Record<string, string>> = {
  "28000":
    "Correct the user in DATABASE_URL, create this role in PostgreSQL, or allow it to connect from here (pg_hba.conf).",
  "28P01": "Correct the user and the password in DATABASE_URL.",
  "3D000": "Create the database, or correct its name in DATABASE_URL."
}

const databaseFix = (error: unknown): string =>
  /does not support TLS/.test(problemOf(error))
    ? "Enable TLS in PostgreSQL, or correct sslmode in DATABASE_URL."
    : (DATABASE_FIXES[codeOf(error) ?? ""] ?? "Correct DATABASE_URL, and let PostgreSQL accept connections from here.")

/** Judges the version and the migrations of a database. */
export const schemaFinding = ({
  newer,
  pending,
  risks,
  version
}: Pick<DatabaseDiagnosis, "newer" | "pending" | "risks" | "version">): Finding => {
  const name = `PostgreSQL ${version}`
  if (newer.length > 0)
    return warned(
      `${name}, with migrations of a newer version: ${newer.join(", ")}`,
      "Run the newer version of agentos-server, unless an upgrade is in progress."
    )
  if (pending.length > 0)
    return warned(
      `${name}, with ${pending.length} pending migrations`,
      "agentos-server migrate, or start, which does the same"
    )
  return risks.length === 0
    ? passed(`${name}, up to date`)
    : warned(
        [`${name}, up to date`, ...risks.map(({ problem }) => problem)].join("; "),
        risks.map(({ fix }) => fix).join(" ")
      )
}

/**
 * Reads the state of the database. Creates and changes nothing. With `tries`, also tries the connections and rights of a
 * server.
 */
export const checkDatabase = (
  config: ServerConfig,
  { tries }: { readonly tries: boolean } = { tries: true }
): Effect.Effect<Finding> =>
  orFailed(
    Effect.flatMap(schemaOf(config), ({ check, read, risks }) =>
      Effect.andThen(tries ? check : Effect.void, Effect.all([read, risks]))
    ),
    ([{ version, ...state }, risks]) =>
      version === null
        ? warned("the embedded database does not exist yet", "agentos-server migrate, or start, which creates it too")
        : schemaFinding({ ...state, version, risks }),
    (error) =>
      "directory" in config.database
        ? "Correct AGENTOS_DATA_DIR, or stop the process that uses it."
        : databaseFix(error)
  )

const inNetworks = (what: string) => `Correct ${what} of this network in AGENTOS_NETWORKS.`

/** The refunds that are due, by token. */
export type DueRefunds = ReadonlyArray<
  Pick<OpenOperations, "network" | "asset" | "count" | "amount"> & { readonly isLate: boolean }
>

/** Judges a refund wallet by the refunds that are due, in base units of prices, and by one more. */
export const refundFinding = (
  { name, network }: Pick<NetworkConfig, "name" | "network">,
  found: { readonly wallet: string; readonly priceUnits: bigint; readonly approval?: string | undefined } | undefined,
  due: { readonly count: number; readonly priceUnits: bigint; readonly isLate: boolean }
): Finding => {
  const tokens = (units: bigint) => `${Usdt.toDecimal(units)} ${name}`
  const owed = `${tokens(due.priceUnits)} ${due.count === 1 ? "for the refund that is" : `for ${due.count} refunds that are`} due`
  if (found === undefined) {
    const configure = `Add "refund" to this network in AGENTOS_NETWORKS.`
    return due.count === 0
      ? warned("none, so refunds are recorded and not paid", configure)
      : failed(
          `none, and payers wait for ${owed}`,
          `${configure} Or pay each back by hand: agentos-server operations list --state refund_due`
        )
  }
  const { approval, priceUnits, wallet } = found
  const holds = `${wallet} holds ${tokens(priceUnits)}`
  const detail = due.count === 0 ? holds : `${holds}, and owes ${owed}`
  const low = `${detail}; a refund takes up to ${Usdt.toDecimal(largestPrice)}`
  const left = priceUnits - due.priceUnits
  const fund = `Send at least ${tokens(largestPrice - left)} on ${network} to ${wallet}. It needs no native coin.`
  // A refund that is on its way has left the wallet, and is still due.
  if (priceUnits === 0n || (left < 0n && due.isLate)) return failed(low, fund)
  if (approval !== undefined) return warned("may not move its tokens by Permit2, so refunds wait", approval)
  return left < largestPrice ? warned(low, fund) : passed(detail)
}

const checkNetwork = (
  config: NetworkConfig,
  label: string,
  refundsDue: Effect.Effect<DueRefunds>
): Effect.Effect<ReadonlyArray<NamedCheck>> => {
  const payer = config.facilitator.kind === "self" ? "gas wallet" : "facilitator"
  return Effect.match(configuredChecks(config), {
    onFailure: (error): ReadonlyArray<NamedCheck> => [
      [`chain ${label}`, Effect.succeed(failed(error.message, inNetworks("the fields")))]
    ],
    onSuccess: ({ facilitator, refund, token, unitsPerPriceUnit }): ReadonlyArray<NamedCheck> => [
      [
        `chain ${label}`,
        orFailed(
          token,
          () => passed(`${config.name} (${config.asset})`),
          () => inNetworks("rpcUrl and the token")
        )
      ],
      [
        `${payer} ${label}`,
        orFailed(
          facilitator,
          () =>
            passed(payer === "facilitator" ? "supports scheme exact of x402 version 2" : "can pay for a settlement"),
          () =>
            payer === "facilitator"
              ? inNetworks("facilitator")
              : `Send the chain's native coin to the gas wallet, or raise maxFeePerGasGwei in AGENTOS_NETWORKS.`
        )
      ],
      [
        `refund wallet ${label}`,
        orFailed(
          Effect.all([refund, refundsDue], { concurrency: 2 }),
          ([found, all]) => {
            const due = all.find(
              ({ asset, network }) => network === config.network && asset === config.asset.toLowerCase()
            )
            const { amount = 0n, count = 0, isLate = false } = due ?? {}
            // Rounded up: the wallet must hold all of it.
            const priceUnits = (amount + unitsPerPriceUnit - 1n) / unitsPerPriceUnit
            return refundFinding(config, found, { count, priceUnits, isLate })
          },
          () => inNetworks("rpcUrl")
        )
      ]
    ]
  })
}

/** Chooses the variables that a failure of the relay is about. */
const relayFix = (error: unknown): string => {
  const code = error instanceof ProviderError ? codeOf(error.cause) : undefined
  if (code === "EAUTH" || code === "ENOAUTH") return "Correct AGENTOS_SMTP_RELAY_USER and AGENTOS_SMTP_RELAY_PASSWORD."
  if (code === "ETLS" || /SSL routines/.test(problemOf(error)))
    return "Set AGENTOS_SMTP_RELAY_TLS to what the relay offers at AGENTOS_SMTP_RELAY_PORT, or choose another port: tls and starttls usually have one each."
  return "Correct AGENTOS_SMTP_RELAY_HOST and AGENTOS_SMTP_RELAY_PORT, and allow connections to it from here."
}

const checkMail = ({ mail }: Setup): Effect.Effect<Finding> =>
  mail?.verify === undefined
    ? Effect.succeed(skipped("mail is not configured"))
    : orFailed(mail.verify, () => passed("accepts connections and credentials; no mail was tried"), relayFix)

const checkCarrier = ({ publicUrl, telephony }: Setup): Effect.Effect<Finding> =>
  telephony?.verify === undefined
    ? Effect.succeed(skipped("telephony is not configured"))
    : orFailed(
        telephony.verify(publicUrl),
        () => passed("the account is active"),
        (error) =>
          error instanceof ProviderError && error.reason === "Misconfigured"
            ? "Correct AGENTOS_TWILIO_ACCOUNT_SID and AGENTOS_TWILIO_AUTH_TOKEN, or activate the account."
            : "Allow connections to Twilio from here, or correct AGENTOS_TWILIO_API_URL."
      )

/** A shorter password is contained in ordinary words. */
const REDACTED_LENGTH_MIN = 4

/** Removes the passwords that a message of someone else could repeat. */
export const withoutPasswords = (config: ServerConfig) => {
  const passwords = passwordsOf(config)
  return ({ detail, ...check }: Check): Check => ({
    ...check,
    detail: passwords.reduce((text, password) => text.replaceAll(password, "…"), detail)
  })
}

const passwordsOf = ({ database, mail, phone }: ServerConfig): ReadonlyArray<string> => {
  // The URL standard has no URLs with several hosts.
  const inUrl = "url" in database ? (/^[^/]*\/\/[^/?#]*?:([^/?#]*)@/.exec(Redacted.value(database.url))?.[1] ?? "") : ""
  const others = [mail?.relay.credentials?.password, phone.carrier?.authToken].flatMap((secret) =>
    secret === undefined ? [] : [Redacted.value(secret)]
  )
  return [inUrl, ...others].filter((secret) => secret.length >= REDACTED_LENGTH_MIN)
}

/** Tries the connections to chains, facilitators, wallets, relay and carrier. Changes nothing, sends nothing and takes at most 10 s. */
export const checkProviders = (
  config: ServerConfig,
  setup: Setup,
  refundsDue: Effect.Effect<DueRefunds>
): Effect.Effect<ReadonlyArray<Check>> => tryAll(config, setup, [], refundsDue)

/** Tries the connections that a server needs: the database, and those of `checkProviders`. */
export const checkConnections = (config: ServerConfig, setup: Setup): Effect.Effect<ReadonlyArray<Check>> =>
  tryAll(config, setup, [["database", checkDatabase(config)]], Effect.succeed([]))

const tryAll = Effect.fnUntraced(function* (
  config: ServerConfig,
  setup: Setup,
  first: ReadonlyArray<NamedCheck>,
  refundsDue: Effect.Effect<DueRefunds>
) {
  const { networks } = config
  const labelOf = ({ asset, network }: NetworkConfig) =>
    networks.filter((other) => other.network === network).length > 1 ? `${network} ${asset}` : network
  const payment = yield* Effect.forEach(networks, (network) => checkNetwork(network, labelOf(network), refundsDue))
  const all: ReadonlyArray<NamedCheck> = [
    ...first,
    ...payment.flat(),
    ["mail relay", checkMail(setup)],
    ["carrier", checkCarrier(setup)]
  ]
  return yield* Effect.forEach(
    all,
    ([name, check]) =>
      Effect.timeoutOrElse(check, {
        duration: `${LIMIT_SECONDS} seconds`,
        orElse: () =>
          Effect.succeed(
            failed(`no answer within ${LIMIT_SECONDS} s`, "Correct its address, and allow connections to it from here.")
          )
      }).pipe(Effect.map((finding): Check => withoutPasswords(config)({ name, ...finding }))),
    { concurrency: "unbounded" }
  )
})
