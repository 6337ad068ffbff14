import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { errorReply, type Reply } from "../support/ApiDouble.ts"
import { challenge, KEY, limitsOf, PAYER, rpcReplies, signInReply, TOKEN } from "../support/PaidAnswers.ts"
import { AT, description, ID, service } from "../support/Samples.ts"
import { asking, NO_TOKEN, NOT_YOURS, type Plans } from "./Plan.ts"

/** A keystore with the address of the test key. It is never opened. */
const KEYSTORE = JSON.stringify({
  version: 3,
  id: "0190f3c2-0000-7000-8000-0000000000ee",
  address: PAYER.slice(2).toLowerCase(),
  crypto: {
    cipher: "aes-128-ctr",
    cipherparams: { iv: "00".repeat(16) },
    ciphertext: "00".repeat(32),
    kdf: "scrypt",
    kdfparams: { n: 2, r: 8, p: 1, dklen: 32, salt: "00".repeat(32) },
    mac: "00".repeat(32)
  }
})

const keyFile = (folder: string): void => writeFileSync(join(folder, "key"), KEY, { mode: 0o600 })
const keystore = (folder: string): void => writeFileSync(join(folder, "store.json"), KEYSTORE, { mode: 0o600 })
const walletThere = (folder: string): void => {
  mkdirSync(join(folder, "wallets"), { mode: 0o700 })
  writeFileSync(join(folder, "wallets", "default.json"), KEYSTORE, { mode: 0o600 })
}
const NO_KEY = { AGENTOS_PRIVATE_KEY: "" }
const CREATE = ["wallet", "create"]
const BALANCE = ["wallet", "balance"]
const ALLOW = ["wallet", "allow"]
const BNB_USDT = "0x55d398326f99059fF775485246999027B3197955"

/** A server that takes payments by Permit2, to which the wallet has allowed so much. */
const allowance = (baseUnits: string): Readonly<Record<string, ReadonlyArray<Reply>>> => ({
  "GET /api/v1/payments/networks": [
    {
      data: {
        items: [
          {
            network: "eip155:56",
            asset: BNB_USDT,
            name: "Tether USD",
            transferMethod: "permit2",
            decimals: 18,
            payTo: PAYER,
            balance: { amount: "12.50", baseUnits: "12500000000000000000" },
            allowance: { amount: "0.00", baseUnits }
          }
        ]
      }
    }
  ]
})

/** BNB Chain, where the wallet has this balance of gas: chain, balance, nonce, gas, price, the sent transaction, its receipt. */
const gasReplies = (balance: string): ReadonlyArray<Reply> =>
  ["0x38", balance, "0x0", "0x0", "0xb71b", "0x3b9aca00", `0x${"cd".repeat(32)}`, { status: "0x1" }].map((result) => ({
    status: 200,
    body: { jsonrpc: "2.0", id: 1, result }
  }))

const LOGIN = ["login"]
const WHOAMI = ["whoami"]
const MAILBOXES = "POST /api/v1/email/mailboxes"
const REVOKE = "POST /api/v1/auth/revoke"
const REVOKE_TENANT = ["tenant", "revoke-tokens", PAYER]
const REVOKE_TENANT_ROUTE = `POST /internal/tenants/${PAYER}/revoke-tokens`
const OPERATOR = { AGENTOS_OPERATOR_TOKEN: "operator-token-of-the-test-server" }
const LOGGED_OUT = { AGENTOS_TOKEN: "" }

export const ACCOUNT_PLANS: Plans<
  | "wallet create"
  | "wallet import"
  | "wallet address"
  | "wallet balance"
  | "wallet allow"
  | "login"
  | "logout"
  | "whoami"
  | "limits"
  | "token rotate"
  | "tenant revoke-tokens"
  | "services list"
  | "services show"
  | "quote"
> = {
  "wallet create": {
    success: { args: [...CREATE, "--plain"], exit: 0, env: NO_KEY },
    failure: { args: CREATE, exit: 6, prepare: walletThere },
    interrupt: { args: CREATE, exit: 130, answers: ["^C"] }
  },
  "wallet import": {
    success: { args: ["wallet", "import", "key", "--plain"], exit: 0, prepare: keyFile },
    failure: { args: ["wallet", "import"], exit: 3, stdin: "correct horse battery staple" },
    interrupt: { args: ["wallet", "import"], exit: 130, answers: ["^C"] }
  },
  "wallet address": {
    success: { args: ["wallet", "address", "--wallet-file", "store.json"], exit: 0, prepare: keystore },
    failure: { args: ["wallet", "address"], exit: 3, env: NO_KEY },
    interrupt: "it never waits"
  },
  "wallet balance": {
    success: {
      args: BALANCE,
      exit: 0,
      server: { [MAILBOXES]: [challenge()], "POST /rpc": rpcReplies(12_345_678n) }
    },
    failure: {
      args: BALANCE,
      exit: 9,
      server: { [MAILBOXES]: [challenge()], "POST /rpc": [{ status: 200, body: "<html>" }] }
    },
    interrupt: {
      args: BALANCE,
      exit: 130,
      server: { [MAILBOXES]: [challenge()], "POST /rpc": ["hang"] },
      interrupt: "unanswered"
    }
  },
  "wallet allow": {
    success: {
      args: ALLOW,
      exit: 0,
      answers: ["y"],
      server: { ...allowance("0"), "POST /rpc": gasReplies("0x38d7ea4c68000") }
    },
    failure: { args: ALLOW, exit: 7, server: { ...allowance("0"), "POST /rpc": gasReplies("0x0") } },
    interrupt: {
      args: ALLOW,
      exit: 130,
      answers: ["^C"],
      server: { ...allowance("0"), "POST /rpc": gasReplies("0x38d7ea4c68000") }
    },
    forPrograms: ["--yes", "--max-cost", "0.001"]
  },
  login: {
    success: {
      args: LOGIN,
      exit: 0,
      env: LOGGED_OUT,
      stdin: `${TOKEN}\n`,
      server: { "GET /api/v1/events": [{ data: { items: [] } }] }
    },
    failure: { args: LOGIN, exit: 3, env: LOGGED_OUT, stdin: "correct horse battery staple" },
    interrupt: { args: LOGIN, exit: 130, env: LOGGED_OUT, answers: ["^C"] }
  },
  logout: {
    success: { args: ["logout"], exit: 0, env: LOGGED_OUT },
    failure: { args: ["logout"], exit: 3, env: { AGENTOS_BASE_URL: "" } },
    interrupt: "it never waits"
  },
  whoami: {
    success: {
      args: WHOAMI,
      exit: 0,
      server: { "GET /api/v1": [{ data: description }], "GET /api/v1/limits": [limitsOf(PAYER)] }
    },
    failure: {
      args: WHOAMI,
      exit: 4,
      server: { "GET /api/v1": [{ data: description }], "GET /api/v1/limits": [NO_TOKEN.reply] }
    },
    interrupt: { args: WHOAMI, exit: 130, server: { "GET /api/v1": ["hang"] }, interrupt: "unanswered" }
  },
  "tenant revoke-tokens": {
    success: {
      args: REVOKE_TENANT,
      exit: 0,
      answers: ["y"],
      env: OPERATOR,
      server: {
        [REVOKE_TENANT_ROUTE]: [
          { data: { tenantId: ID, wallet: PAYER, createdAt: AT, suspension: null, usage: { mailboxes: 1 } } }
        ]
      }
    },
    failure: {
      args: REVOKE_TENANT,
      exit: 4,
      answers: ["y"],
      env: OPERATOR,
      server: { [REVOKE_TENANT_ROUTE]: [errorReply(401, "AUTH_REQUIRED")] }
    },
    interrupt: { args: REVOKE_TENANT, exit: 130, answers: ["y", "^C"] },
    forPrograms: ["--yes"]
  },
  limits: asking(
    ["limits"],
    "GET /api/v1/limits",
    {
      data: {
        items: [
          {
            name: "mail_recipients_per_day",
            scope: "wallet",
            description: "Recipients of sent messages in a day (UTC).",
            limit: 10_000,
            used: 1_234,
            resetsAt: AT
          },
          {
            name: "mailbox_bytes",
            scope: "mailbox",
            description: "Bytes of the messages in one mailbox.",
            limit: null,
            used: null,
            resetsAt: null
          }
        ],
        sendingPause: null,
        callableCountries: ["CA", "US"]
      }
    },
    NO_TOKEN
  ),
  "token rotate": {
    success: {
      args: ["token", "rotate"],
      exit: 0,
      answers: ["y"],
      server: { [REVOKE]: [signInReply("/api/v1/auth/revoke"), { data: { authentication: { accessToken: TOKEN } } }] },
      env: LOGGED_OUT
    },
    failure: {
      args: ["token", "rotate"],
      exit: 5,
      answers: ["y"],
      server: { [REVOKE]: [signInReply("/api/v1/auth/revoke"), NOT_YOURS.reply] }
    },
    interrupt: { args: ["token", "rotate"], exit: 130, answers: ["^C"] },
    forPrograms: ["--yes"]
  },
  "services list": asking(
    ["services", "list"],
    "GET /api/v1/services",
    {
      data: { items: [service, { ...service, serviceId: "email.mailbox.list", price: null, authentication: "bearer" }] }
    },
    { reply: { status: 200, body: "<html>" }, exit: 1 }
  ),
  "services show": asking(
    ["services", "show", service.serviceId],
    `GET /api/v1/services/${service.serviceId}`,
    { data: { service } },
    NOT_YOURS
  ),
  quote: {
    success: {
      args: ["quote", service.serviceId, "localPart=ada"],
      exit: 0,
      server: { [`GET /api/v1/services/${service.serviceId}`]: [{ data: { service } }], [MAILBOXES]: [challenge()] }
    },
    failure: {
      args: ["quote", service.serviceId, "localPart=ada"],
      exit: 6,
      server: {
        [`GET /api/v1/services/${service.serviceId}`]: [{ data: { service } }],
        [MAILBOXES]: [
          errorReply(409, "CONFLICT", { message: "The address is taken. Nothing was charged.", paymentState: "none" })
        ]
      }
    },
    interrupt: {
      args: ["quote", service.serviceId, "localPart=ada"],
      exit: 130,
      server: { [`GET /api/v1/services/${service.serviceId}`]: ["hang"] },
      interrupt: "unanswered"
    }
  }
}
