import { describe, expect, it } from "vitest"
import { readDependencies } from "../../lint/Dependencies.ts"
import { makeWorkspace } from "./Workspace.ts"

/** Imports that the design allows, one file each. */
const allowed: Readonly<Record<string, string>> = {
  "packages/core/src/index.ts": `export * from "./jobs/Due.ts"`,
  "packages/core/src/kernel/Money.ts": `import { Schema } from "effect"\nexport const money = Schema.String`,
  "packages/core/src/events/Event.ts": `export { money } from "../kernel/Money.ts"`,
  "packages/core/src/payment/Operation.ts": `export { money } from "../events/Event.ts"`,
  "packages/core/src/email/Mailbox.ts": `import * as Effect from "effect/Effect"\nexport const a = Effect.void`,
  "packages/core/src/jobs/Due.ts": `export { a } from "../email/Mailbox.ts"`,
  "packages/core/test/Due.test.ts": `import { TestClock } from "effect/testing"\nimport { a } from "@agentos/core"\nexport default [TestClock, a]`,
  "packages/api/src/index.ts": `import * as Api from "effect/http-api"\nimport { a } from "@agentos/core"\nexport default [Api, a]`,
  "packages/api/src/PublicPath.ts": `export const path = "/"`,
  "packages/api/src/schema/JsonSchema.ts": `export { path } from "../PublicPath.ts"`,
  "packages/api/src/operation/Inputs.ts": `export * from "../schema/JsonSchema.ts"`,
  "packages/api/src/error/Errors.ts": `export * from "../operation/Inputs.ts"`,
  "packages/memory/src/index.ts": `export { a } from "@agentos/core"`,
  "packages/postgres/src/index.ts": `import { createHash } from "node:crypto"\nimport * as Sql from "effect/sql"\nexport default [createHash, Sql]`,
  "packages/postgres/test/a.test.ts": `import postgres from "@agentos/postgres"\nimport { a } from "@agentos/memory"\nexport default [postgres, a]`,
  "packages/x402/src/index.ts": `export { a } from "@agentos/core"`,
  "packages/x402/src/self/Own.ts": `export { a } from "@agentos/core"`,
  "packages/node/src/file-lock/FileLock.ts": `export { linkSync } from "node:fs"`,
  "packages/node/src/keyring/index.ts": `export { a } from "@agentos/core"`,
  "packages/http-server/src/index.ts": `export { default } from "@agentos/api"`,
  "packages/provider-twilio/src/index.ts": `export * from "@agentos/core"`,
  "packages/agentos/src/index.ts": `export { default } from "@agentos/postgres"\nexport * from "@agentos/provider-twilio"`,
  "packages/server/src/index.ts": `export { default } from "@agentos/agentos"`,
  "packages/sandbox/src/index.ts": `export { default } from "@agentos/server"`,
  "packages/cli/src/Version.ts": `export const VERSION = "1"`,
  "packages/cli/src/context/Context.ts": `export { VERSION } from "../Version.ts"`,
  "packages/cli/src/config/Settings.ts": `export * from "../context/Context.ts"`,
  "packages/cli/src/server/Connection.ts": `export * from "../config/Settings.ts"`,
  "packages/cli/src/mail/Inbox.ts": `export * from "../server/Connection.ts"`,
  "packages/cli/src/command/Commands.ts": `export const load = () => import("../mail/Inbox.ts")`,
  "packages/client/src/index.ts": `export const connect = () => undefined`,
  "examples/sign-up/main.ts": `export { readFile } from "node:fs/promises"\nexport * from "@agentos/client"`,
  "examples/embedded/main.ts": `export { a } from "@agentos/memory"`,
  "test/tour.test.ts": `export { default } from "@agentos/sandbox"`
}

/** Imports that a rule refuses: file, text, the rule. */
const refused: ReadonlyArray<readonly [file: string, text: string, rule: string]> = [
  ["packages/core/src/kernel/Disk.ts", `export { readFile } from "node:fs"`, "core-imports-effect-alone"],
  ["packages/core/src/kernel/BareDisk.ts", `export { readFile } from "fs"`, "core-imports-effect-alone"],
  ["packages/core/src/kernel/Web.ts", `export * from "effect/http"`, "core-imports-effect-alone"],
  ["packages/core/src/kernel/DeepWeb.ts", `export * from "effect/http/HttpClient"`, "core-imports-effect-alone"],
  ["packages/core/src/kernel/Lazy.ts", `export const load = () => import("effect/sql")`, "core-imports-effect-alone"],
  ["packages/core/src/kernel/Clocked.ts", `export * from "effect/testing"`, "core-imports-effect-alone"],
  ["packages/core/src/kernel/Stored.ts", `export { a } from "@agentos/memory"`, "core-imports-effect-alone"],
  [
    "packages/core/src/kernel/Up.ts",
    `import type { a } from "../jobs/Due.ts"\nexport type A = typeof a`,
    "core-layer-kernel"
  ],
  ["packages/core/src/events/Up.ts", `export * from "../payment/Operation.ts"`, "core-layer-events"],
  ["packages/core/src/events/UpByType.ts", `export type Due = import("../jobs/Due.ts").Due`, "core-layer-events"],
  ["packages/core/src/catalog/Up.ts", `export * from "../payment/Operation.ts"`, "core-layer-catalog"],
  ["packages/core/src/payment/Up.ts", `export * from "../email/Mailbox.ts"`, "core-layer-payment"],
  ["packages/core/src/phone/Up.ts", `export * from "../jobs/Due.ts"`, "core-layer-phone"],
  ["packages/core/src/attic/New.ts", `export * from "../kernel/Money.ts"`, "core-has-known-folders"],
  ["packages/core/src/tenancy/Loop.ts", `export * from "./Loop.ts"`, "no-circular"],
  ["packages/core/src/tenancy/A.ts", `export type { B } from "./B.ts"`, "no-circular"],
  ["packages/memory/src/Sql.ts", `export * from "@agentos/postgres"`, "adapters-import-core-alone"],
  ["packages/x402/src/Api.ts", `export * from "@agentos/api"`, "adapters-import-core-alone"],
  ["packages/x402/src/Rail.ts", `export * from "./self/Own.ts"`, "self-facilitator-is-one-of-several"],
  ["packages/x402/src/self/Stored.ts", `export * from "@agentos/memory"`, "adapters-import-core-alone"],
  ["packages/x402/test/a.test.ts", `export * from "@agentos/postgres"`, "adapter-tests"],
  ["packages/node/src/webhook/Keys.ts", `export * from "../keyring/index.ts"`, "node-folders-stand-alone"],
  ["packages/node/src/file-lock/Core.ts", `export * from "@agentos/core"`, "file-lock-imports-node-alone"],
  ["packages/provider-smtp/src/Server.ts", `export * from "@agentos/http-server"`, "adapters-import-core-alone"],
  ["packages/provider-smtp/test/a.test.ts", `export * from "@agentos/postgres"`, "adapter-tests"],
  ["packages/core/contract-tests/Memory.ts", `export * from "@agentos/memory"`, "contract-tests-import-core-alone"],
  ["packages/x402/contract-tests/Rail.ts", `export * from "@agentos/x402"`, "contract-tests-import-core-alone"],
  [
    "packages/server/src/Suites.ts",
    `export * from "../../core/contract-tests/Memory.ts"`,
    "sources-do-not-import-suites"
  ],
  ["packages/api/src/Disk.ts", `export * from "node:fs"`, "api-imports-core-alone"],
  ["packages/api/src/operation/Up.ts", `export * from "../error/Errors.ts"`, "api-layer-operation"],
  [
    "packages/api/src/schema/Up.ts",
    `import type { path } from "../operation/Inputs.ts"\nexport type Path = typeof path`,
    "api-layer-schema"
  ],
  ["packages/api/src/schema/Top.ts", `export * from "../index.ts"`, "api-layer-schema"],
  ["packages/api/src/Guides.ts", `export * from "./error/Errors.ts"`, "api-files-below-folders"],
  ["packages/api/src/attic/New.ts", `export * from "../PublicPath.ts"`, "api-has-known-folders"],
  ["packages/http-server/src/Store.ts", `export * from "@agentos/postgres"`, "http-server-imports-api-and-core"],
  [
    "packages/http-server/src/ingress/Twilio.ts",
    `export * from "@agentos/provider-twilio"`,
    "http-server-imports-api-and-core"
  ],
  ["packages/agentos/src/Play.ts", `export * from "@agentos/sandbox"`, "agentos-composes-adapters"],
  ["packages/server/src/Store.ts", `export * from "@agentos/postgres"`, "server-configures-agentos"],
  ["packages/http-server/src/Play.ts", `export * from "@agentos/sandbox"`, "sandbox-is-for-tests-and-examples"],
  ["packages/http-server/test/a.test.ts", `export * from "@agentos/sandbox"`, "sandbox-is-for-tests-and-examples"],
  ["packages/cli/src/Core.ts", `export * from "@agentos/core"`, "cli-imports-api-alone"],
  ["packages/cli/src/config/Up.ts", `export const load = () => import("../server/Connection.ts")`, "cli-layer-config"],
  [
    "packages/cli/src/mail/Up.ts",
    `import type { load } from "../command/Commands.ts"\nexport type Load = typeof load`,
    "cli-layer-mail"
  ],
  ["packages/cli/src/tail/Aside.ts", `export * from "../mail/Inbox.ts"`, "cli-layer-tail"],
  ["packages/cli/src/tail/Socket.ts", `export { WebSocket } from "ws"`, "client-follows-the-gateway"],
  ["packages/cli/src/attic/New.ts", `export * from "../Version.ts"`, "cli-has-known-folders"],
  ["packages/node/src/command-line/Domain.ts", `export * from "@agentos/core"`, "command-line-stands-alone"],
  ["packages/node/src/keyring/Wire.ts", `export * from "@agentos/api"`, "node-folders-stand-alone"],
  ["packages/memory/src/Reach.ts", `export * from "../../core/src/kernel/Money.ts"`, "packages-meet-by-name"],
  ["packages/memory/src/Tested.ts", `export * from "../test/fixture.ts"`, "sources-do-not-import-tests"],
  ["packages/memory/src/Loan.ts", `export * from "undeclared"`, "sources-declare-what-they-import"],
  ["packages/memory/src/Gone.ts", `export * from "not-installed"`, "no-unresolvable"],
  ["examples/sign-up/inside.ts", `export * from "@agentos/core"`, "examples-stand-alone"]
]

describe("dependency rules", () => {
  it("allow the imports of the design", async () => {
    using workspace = makeWorkspace(allowed)
    const report = await readDependencies(workspace.root)
    expect(report.violations).toEqual([])
    expect(report.unread).toEqual([])
    expect(report.moduleCount).toBe(Object.keys(allowed).length + 1)
  })

  it("refuse every forbidden import", async () => {
    using workspace = makeWorkspace({
      ...allowed,
      "packages/memory/test/fixture.ts": "export {}",
      "packages/core/src/tenancy/B.ts": `import type { A } from "./A.ts"\nexport type B = A`,
      ...Object.fromEntries(refused.map(([file, text]) => [file, text]))
    })
    const report = await readDependencies(workspace.root)
    const caught = report.violations.map((violation) => `${violation.from}: ${violation.rule}`)
    expect(caught).toEqual(expect.arrayContaining(refused.map(([file, , rule]) => `${file}: ${rule}`)))
    expect(report.violations.filter((violation) => violation.from in allowed)).toEqual([])
  })
})
