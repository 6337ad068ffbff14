import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { hasEffectDiagnostics, readEffectDiagnostics } from "../../lint/EffectDiagnostics.ts"
import { makeWorkspace, repository } from "./Workspace.ts"

interface Diagnostic {
  readonly code: string
  readonly filename: string
}

/** File, text, and the rules that refuse it; empty if it is allowed. */
const cases: ReadonlyArray<readonly [file: string, text: string, rules: ReadonlyArray<string>]> = [
  ["packages/core/src/kernel/Now.ts", "export const now = () => Date.now()", ["eslint(no-restricted-properties)"]],
  ["packages/core/src/kernel/Today.ts", "export const today = () => new Date()", ["agentos(no-ambient-clock)"]],
  ["packages/core/src/kernel/Dice.ts", "export const roll = () => Math.random()", ["eslint(no-restricted-properties)"]],
  ["packages/postgres/src/Now.ts", "export const now = () => Date.now()", ["eslint(no-restricted-properties)"]],
  ["packages/core/src/kernel/Convert.ts", "export const convert = (millis: number) => new Date(millis)", []],
  ["packages/sandbox/src/Now.ts", "export const now = () => Date.now()", []],
  ["packages/core/src/kernel/Env.ts", "export const env = () => process.env", ["eslint(no-restricted-globals)"]],
  ["packages/core/src/kernel/Yaml.ts", `export { Yaml } from "effect/encoding"`, ["eslint(no-restricted-imports)"]],
  ["packages/core/src/kernel/Hex.ts", `export { Hex } from "effect/encoding"`, []],
  ["packages/postgres/src/Print.ts", `console.log("x")`, ["eslint(no-console)"]],
  ["packages/server/src/main.ts", `console.log("x")`, []],
  [
    "packages/http-server/src/handler/Limits.ts",
    `import { Schema } from "effect"\nexport const name = Schema.String.check(Schema.isMaxLength(9))`,
    ["agentos(inputs-declared-once)"]
  ],
  [
    "packages/core/src/email/Limits.ts",
    `import { Schema } from "effect"\nexport const name = Schema.String.check(Schema.isMaxLength(9))`,
    []
  ],
  [
    "packages/http-server/src/edge/Other.ts",
    `export { HttpRouter } from "effect/http"`,
    ["eslint(no-restricted-imports)"]
  ],
  ["packages/api/src/Loose.ts", "export const loose = (value: any) => value", ["typescript(no-explicit-any)"]],
  ["packages/api/src/Unused.ts", "const unused = 1\nexport {}", ["eslint(no-unused-vars)"]],
  ["test/a.test.ts", `import { it } from "vitest"\nit.only("x", () => {})`, ["vitest(no-focused-tests)"]],
  [
    "packages/core/src/kernel/Silent.ts",
    "// oxlint-disable-next-line no-restricted-properties\nexport const now = () => Date.now()",
    ["agentos(reasoned-disable)"]
  ],
  [
    "packages/core/src/kernel/Reasoned.ts",
    "// oxlint-disable-next-line no-restricted-properties -- this measures the clock of the host\nexport const now = () => Date.now()",
    []
  ],
  [
    "packages/postgres/src/Advice.ts",
    "// Lower AGENTOS_DATABASE_POOL.\nexport const advice = `Raise ${String(1)} or AGENTOS_DATABASE_POOL`\nexport const name = 'AGENTOS_KEYS'",
    Array.from({ length: 3 }, () => "agentos(no-program-variables)")
  ],
  ["packages/server/src/Advice.ts", "export const name = 'AGENTOS_KEYS'", []]
]

describe("code rules", () => {
  it("refuse exactly the forbidden code", () => {
    using workspace = makeWorkspace(Object.fromEntries(cases.map(([file, text]) => [file, `${text}\n`])))
    const run = spawnSync(process.execPath, [join(repository, "node_modules/oxlint/bin/oxlint"), "-f", "json"], {
      cwd: workspace.root,
      encoding: "utf8"
    })
    const { diagnostics } = JSON.parse(run.stdout) as { readonly diagnostics: ReadonlyArray<Diagnostic> }
    const found = cases.map(([file]) => [
      file,
      diagnostics.filter(({ filename }) => filename === file).map(({ code }) => code)
    ])
    expect(found).toEqual(cases.map(([file, , rules]) => [file, rules]))
    expect(run.status).toBe(1)
  })
})

describe("Effect diagnostics", () => {
  it.runIf(hasEffectDiagnostics)("refuse an effect that is never run", () => {
    using workspace = makeWorkspace({
      "packages/core/src/Float.ts": [
        `import { Effect } from "effect"`,
        "export const save = (count: number): Effect.Effect<number> => Effect.succeed(count)",
        "export const saveTwice = Effect.gen(function* () {",
        "  save(1)",
        "  yield* save(2)",
        "})"
      ].join("\n")
    })
    const report = readEffectDiagnostics(join(workspace.root, "tsconfig.effect.json"))
    expect(report.text).toMatch(/Float\.ts\(4,3\): error effect\(floatingEffect\)/)
    expect(report.clean).toBe(false)
  })
})
