import { Failure } from "@agentos/node/command-line"
import { confirm, defineCommand, REASON_FLAG, reasonOf, runEffect } from "./ServerCommand.ts"

export const TOKEN_OPERATOR = defineCommand(
  {
    name: "token operator",
    summary: "Print a new operator token",
    description:
      "Prints a random value for AGENTOS_OPERATOR_TOKEN. Nothing is stored: set the variable on every server.",
    examples: [{ line: "agentos-server token operator", does: "Enable the operator routes, or replace their token" }],
    output: "text",
    json: "the token"
  },
  async ({ output }) => {
    const { newOperatorToken } = await import("../Secrets.ts")
    output.text(`${newOperatorToken()}\n`)
  }
)

export const TOKEN_KEY = defineCommand(
  {
    name: "token key",
    summary: "Print a new server key",
    description:
      "Prints ID:SECRET with the id after the highest of AGENTOS_KEYS. Add it to AGENTOS_KEYS on every server, after a comma. Remove an older key when no token and no open operation uses it.",
    examples: [{ line: "agentos-server token key", does: "Make the first key, or the next one" }],
    output: "text",
    json: "the key"
  },
  async ({ host, output }) => {
    const { newKey } = await import("../Secrets.ts")
    const ids = [...(host.env["AGENTOS_KEYS"] ?? "").matchAll(/(?:^|,)\s*(\d+):/g)].map(([, id]) => Number(id))
    const id = Math.max(0, ...ids) + 1
    if (id > 255) {
      throw new Failure({ code: "CONFIGURATION", message: "AGENTOS_KEYS already has the highest id, 255. Reuse one." })
    }
    output.text(`${newKey(id)}\n`)
  }
)

export const TOKEN_REVOKE = defineCommand(
  {
    name: "token revoke",
    summary: "Revoke the access tokens of a tenant",
    description:
      "Ends every access token and realtime session of the tenant on every server within 5 s. The wallet gets a new token, free of charge, with agentctl login --wallet. Works on the database, so no server needs to run; an embedded database has one user at a time.",
    arguments: [{ name: "tenant", summary: "Wallet or id of the tenant.", presence: "required" }],
    flags: [{ name: "yes", short: "y", type: "boolean", summary: "Revoke without confirmation." }, REASON_FLAG],
    examples: [
      {
        line: "agentos-server token revoke 0x4aA349036473103028d92Dd5B906027B64B85A94",
        does: "After a token of the wallet has leaked"
      }
    ],
    output: "record",
    json: "{tenantId, wallet}",
    exits: [2, 5]
  },
  async (context, { arguments: { tenant }, flags: { reason, yes } }) => {
    const { Effect } = await import("effect")
    const ServerConfig = await import("../config/ServerConfig.ts")
    const { revokeTokens, TenantUnknown } = await import("../program/Maintenance.ts")
    const { host, output } = context
    const given = await reasonOf(reason)
    await confirm(context, yes, `Revoke all access tokens of ${tenant}? [y/N] `, "Cancelled. Nothing was revoked.")
    const { tenantId, wallet } = await runEffect(
      context,
      Effect.flatMap(ServerConfig.read(host.env), (config) => revokeTokens(config, tenant, given)),
      (error) =>
        error instanceof TenantUnknown
          ? new Failure({ code: "NOT_FOUND", message: `${tenant} is not the wallet or the id of a tenant.` })
          : undefined
    )
    output.record({ tenantId, wallet }, [
      ["Tenant", tenantId],
      ["Wallet", wallet],
      ["Tokens", "revoked"]
    ])
  }
)
