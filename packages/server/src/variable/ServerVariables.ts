import { DEFAULT_CALL_POLICY, DEFAULT_EVENT_POLICY, Timestamp } from "@agentos/core"
import { inGroup, integer } from "./Variable.ts"

const REPLAY_DAYS = DEFAULT_EVENT_POLICY.retention / Timestamp.DAY

export const SERVER_VARIABLES = {
  ...inGroup("server", {
    AGENTOS_PUBLIC_URL: {
      kind: "text",
      required: "the URL at which clients reach the server",
      example: "https://example.com",
      meaning: "the https URL that clients use"
    },
    AGENTOS_KEYS: {
      kind: "text",
      isSecret: true,
      required: "comma-separated id:secret pairs, for example 1:$(openssl rand -base64 32)",
      example: "1:c2VjcmV0…",
      meaning:
        "server keys as `ID:SECRET`, comma-separated; `agentos-server token key` prints one. Keep an older key while operations that were claimed under it are open: the server does not start without it"
    },
    AGENTOS_ACTIVE_KEY: integer(1, 255, {
      otherwise: "the highest id",
      example: "2",
      meaning: "id of the key for new tokens"
    }),
    AGENTOS_ENVIRONMENT: {
      kind: "choice",
      values: ["production", "sandbox"],
      default: "production",
      meaning: "mode: `production`, or `sandbox` for trials"
    },
    AGENTOS_HOST: { kind: "text", default: "127.0.0.1", meaning: "listening address" },
    AGENTOS_PORT: integer(0, 65_535, { default: 8080, meaning: "listening port" }),
    AGENTOS_WORKERS: {
      kind: "text",
      default: "1",
      meaning:
        "number of processes that serve the port, or `auto` for one for each core ([Operate](/docs/operate#workers)). More than 1 needs PostgreSQL"
    },
    AGENTOS_ACCESS_LOG: {
      kind: "choice",
      values: ["full", "sampled", "off"],
      default: "full",
      meaning:
        "requests in the log: `full` for all, `sampled` for those answered with 400 or more and one in 100 of the others, or `off`"
    },
    AGENTOS_TRUSTED_PROXIES: {
      kind: "text",
      example: "10.0.0.0/8,192.0.2.1/32",
      meaning: "networks whose `X-Forwarded-For` is trusted, comma-separated"
    },
    AGENTOS_SIGN_IN_ORIGINS: {
      kind: "text",
      example: "https://app.example",
      meaning:
        "origins of other sites whose pages may [sign in](/docs/authentication#get-a-lost-token-back) with a wallet, comma-separated; none by default"
    },
    AGENTOS_RATE_LIMIT_PER_MINUTE: integer(0, 10_000_000, {
      default: 1_200,
      meaning:
        "requests per minute for each address and each tenant; all of them may come in one burst. 0 disables all rate limits and hourly quotas"
    }),
    AGENTOS_OPERATOR_TOKEN: {
      kind: "text",
      isSecret: true,
      otherwise: "no such routes",
      meaning:
        "token for the operator routes, metrics included ([Operate](/docs/operate)); `agentos-server token operator` prints one"
    },
    AGENTOS_OPERATOR_LISTEN: {
      kind: "text",
      otherwise: "127.0.0.1 and the port after `AGENTOS_PORT`",
      meaning:
        "address of the operator routes, as host:port. They are on this port alone, which has no other routes. Let only the operator reach it"
    },
    AGENTOS_OPERATOR_WEBHOOK_URL: {
      kind: "text",
      otherwise: "no such messages",
      example: "https://ops.example.com/agentos",
      meaning:
        "receiver of [incidents](/docs/operate#incidents), by http or https, together with `AGENTOS_OPERATOR_WEBHOOK_SECRET`"
    },
    AGENTOS_OPERATOR_WEBHOOK_SECRET: {
      kind: "text",
      isSecret: true,
      example: "whsec_…",
      meaning: "signs them, as Standard Webhooks describes: `whsec_` and 24 to 64 bytes in base64"
    },
    AGENTOS_OPERATOR_MAIL_TO: {
      kind: "text",
      otherwise: "no such messages",
      example: "ops@example.com",
      meaning: "address to which [incidents](/docs/operate#incidents) are mailed through the relay"
    },
    AGENTOS_TRACES_URL: {
      kind: "text",
      otherwise: "no traces",
      example: "http://127.0.0.1:4318/v1/traces",
      meaning: "receiver of [traces](/docs/operate#traces), by OTLP over HTTP as JSON"
    },
    AGENTOS_TRACES_HEADERS: {
      kind: "text",
      isSecret: true,
      otherwise: "none",
      meaning: "headers of each request to the receiver of traces, as `name=value`, comma-separated; a space is `%20`"
    },
    AGENTOS_TRACES_ONE_IN: integer(1, 1_000_000, {
      default: 100,
      meaning: "one in this many traces is recorded; 1 records all. At most 100 begin in a second"
    })
  }),
  ...inGroup("database", {
    DATABASE_URL: {
      kind: "text",
      isSecret: true,
      otherwise: "required, or `AGENTOS_DATA_DIR`",
      example: "postgres://agentos:password@db.example.com/agentos?sslmode=verify-full",
      meaning: "URL of a PostgreSQL server, version 14 or later"
    },
    AGENTOS_DATA_DIR: {
      kind: "text",
      example: "/var/lib/agentos",
      meaning:
        "directory of an embedded database, for one server. It survives the end of the process, however it comes, but not a power failure: use PostgreSQL where money matters"
    },
    AGENTOS_DATABASE_POOL: integer(2, 500, {
      default: 10,
      meaning:
        "connections of each worker for requests; four more deliver events, listen for them, and share transactions"
    }),
    AGENTOS_DATABASE_STATEMENT_TIMEOUT_SECONDS: integer(1, 3_600, {
      default: 10,
      meaning: "longest statement; two seconds later, a connection without an answer is replaced"
    }),
    AGENTOS_DATABASE_IDLE_TRANSACTION_TIMEOUT_SECONDS: integer(1, 3_600, {
      default: 10,
      meaning: "longest idle time within a transaction"
    }),
    AGENTOS_EVENT_RETENTION_DAYS: integer(0, 36_500, {
      default: 0,
      meaning: `days after its creation at which an acknowledged, expired or failed event is deleted: ${REPLAY_DAYS} or more, or 0 for never. Deleted events are gone from \`events.list\`, \`events.get\` and the audit trail; messages, calls, operations and the ledger stay`
    })
  }),
  ...inGroup("payment", {
    AGENTOS_NETWORKS: {
      kind: "json",
      isSecret: true,
      required: "a JSON array of the networks on which payments are accepted",
      example:
        '[{"preset":"xLayer","rpcUrl":"https://rpc.xlayer.tech","payTo":"0x…","maxTimeoutSeconds":120,"confirmations":1,"facilitator":{"url":"https://…"},"refund":{"privateKey":"0x…"}}]',
      meaning:
        "a JSON array with one object for each network: [Payment networks](/docs/payment-networks) describes its fields, presets, the refund wallet and the kinds of facilitators. Clients choose among the networks"
    }
  }),
  ...inGroup("telephone", {
    AGENTOS_TWILIO_ACCOUNT_SID: {
      kind: "text",
      otherwise: "telephone services answer 503",
      example: "AC…",
      meaning: "the Twilio account, together with `AGENTOS_TWILIO_AUTH_TOKEN`"
    },
    AGENTOS_TWILIO_AUTH_TOKEN: { kind: "text", isSecret: true, meaning: "its token" },
    AGENTOS_TWILIO_SHARED_KEYS: {
      kind: "text",
      isSecret: true,
      otherwise: "the auth token signs",
      meaning:
        "the secrets of the [SharedKeys](https://www.twilio.com/docs/usage/webhooks/webhook-shared-keys) with which Twilio signs its requests, comma-separated: the current one, and others during a rotation, at most 5. Requests that the auth token signs are accepted too"
    },
    AGENTOS_TWILIO_LABEL: {
      kind: "text",
      default: "agentos",
      meaning:
        "marks the numbers of this deployment in the account. Deployments that share an account need different labels"
    },
    AGENTOS_TWILIO_MACHINE_DETECTION: {
      kind: "choice",
      values: ["off", "on"],
      default: "off",
      meaning:
        "`on` has Twilio recognize who answers outbound calls: `answeredBy` of a call is then `person`, `machine` or `fax`. Twilio charges for each call, and listens in the background, so that the call is not delayed"
    },
    AGENTOS_TWILIO_API_URL: { kind: "text", default: "https://api.twilio.com", meaning: "base URL of the Twilio API" },
    AGENTOS_CALL_COUNTRIES: {
      kind: "text",
      default: [...DEFAULT_CALL_POLICY.countries].join(","),
      meaning: "countries that may be called (ISO 3166-1 alpha-2), comma-separated"
    },
    AGENTOS_AGENT_WEBHOOK_ALLOW: {
      kind: "json",
      example: '[{"host":"127.0.0.1","port":9443,"caFile":"ca.pem"}]',
      meaning:
        'sandbox only: local agents and event webhooks, as a JSON array of `{host, port, caFile}`, or `{loopback: "http"}` for event webhooks at http URLs of this machine'
    }
  })
}
