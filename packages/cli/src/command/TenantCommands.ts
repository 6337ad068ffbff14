import { EXIT, Failure, plainLine, usageError } from "@agentos/node/command-line"
import { yesFlag } from "../context/Flags.ts"
import { readSecret } from "../host/Host.ts"
import { timeOf } from "../output/Wording.ts"
import { defineCommand } from "./Command.ts"
import { serverAt } from "./Resources.ts"

/** The operator's token, which is never saved. */
const VARIABLE = "AGENTOS_OPERATOR_TOKEN"

/** The address of the operator routes of a server with default settings, on its own machine. */
const DEFAULT_URL = "http://127.0.0.1:8081"

export const TENANT_REVOKE_TOKENS = defineCommand(
  {
    name: "tenant revoke-tokens",
    summary: "Revoke the access tokens of a tenant, as the operator",
    description: `Ends every access token and realtime session of the tenant on every server within 5 s. The wallet gets its new token, free of charge, with agentctl login --wallet. Nothing else changes.\nFor operators: needs the server's ${VARIABLE}, from the environment, standard input or a prompt. It is not saved, and is sent to the server's AGENTOS_OPERATOR_LISTEN, which clients cannot reach: by default ${DEFAULT_URL} on the server's own machine.`,
    arguments: [{ name: "tenant", summary: "Wallet or id of the tenant.", presence: "required" }],
    flags: [
      {
        name: "operator-url",
        type: "text",
        value: "URL",
        summary: `Address of the operator routes (AGENTOS_OPERATOR_URL; default ${DEFAULT_URL}).`
      },
      yesFlag("Revoke")
    ],
    examples: [
      {
        line: "agentctl tenant revoke-tokens 0x4aA349036473103028d92Dd5B906027B64B85A94",
        does: "After a token of the wallet has leaked"
      }
    ],
    output: "record",
    json: "{tenantId, wallet, createdAt, suspension, usage}",
    exits: [2, 4, 5, 9]
  },
  async (context, { arguments: { tenant }, flags }) => {
    const { checkBaseUrl } = await import("../config/Settings.ts")
    const { confirm } = await import("../payment/Approval.ts")
    const { requestIdOf } = await import("../server/ApiFailure.ts")
    const fromVariable = context.host.env["AGENTOS_OPERATOR_URL"] || undefined
    const baseUrl = checkBaseUrl({
      value: flags["operator-url"] ?? fromVariable ?? DEFAULT_URL,
      source: flags["operator-url"] === undefined ? "AGENTOS_OPERATOR_URL" : "--operator-url"
    })
    await confirm(context, `Revoke all access tokens of ${tenant} on ${baseUrl}?`, flags.yes)
    const token = await readSecret(context.host, VARIABLE, "Operator token: ")
    if (!/^[!-~]+$/.test(token))
      throw usageError(`Missing operator token. Set ${VARIABLE}, or pass the token on standard input.`)
    const client = await serverAt(context, baseUrl, token)
    const path = `/internal/tenants/${encodeURIComponent(tenant)}/revoke-tokens`
    const answer = await client.send({ method: "POST", path, repeatable: true }).catch((error: unknown) => {
      if (!(error instanceof Failure) || error.parts.code !== "UNREACHABLE") throw error
      const message = `${error.message} Name the operator routes of the server (its AGENTOS_OPERATOR_LISTEN) by --operator-url or AGENTOS_OPERATOR_URL.`
      throw error.with({ message, next: ["agentctl tenant revoke-tokens --help"] })
    })
    if (answer.status === 401)
      throw new Failure({
        code: "AUTH_REQUIRED",
        exit: EXIT.authentication,
        message: `${baseUrl} rejected the operator token. Use the server's ${VARIABLE}.`,
        requestId: requestIdOf(answer)
      })
    const data = client.dataOf(answer)
    context.output.record(data, [
      ["Tenant", plainLine(String(data["tenantId"]))],
      ["Wallet", plainLine(String(data["wallet"]))],
      ["Created", timeOf(plainLine(String(data["createdAt"])))],
      ["Tokens", "revoked"]
    ])
  }
)
