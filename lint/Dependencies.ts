import { cruise, type ICruiseResult } from "dependency-cruiser"
import { readFileSync, existsSync, globSync } from "node:fs"
import { join } from "node:path"
import { dependencyRules } from "./DependencyRules.ts"

/** An import that a rule refuses. For a circular import, `cycle` lists its modules. */
export interface DependencyViolation {
  readonly rule: string
  readonly from: string
  readonly to: string
  readonly cycle: ReadonlyArray<string>
  readonly comment: string
}

/** The size of the checked source, and the refused imports. */
export interface DependencyReport {
  readonly moduleCount: number
  readonly importCount: number
  /** Source files that the checker did not read, or in which it missed the imports. */
  readonly unread: ReadonlyArray<string>
  readonly violations: ReadonlyArray<DependencyViolation>
}

const roots = ["packages", "examples", "test", "lint"]
const ignored = /(?:^|\/)(?:node_modules|dist)(?:\/|$)/
const importLine = /^(?:import|export)\b[^"'`;=]*\bfrom\s+["']|^import\s+["']/m

/** Shortens a path through pnpm's store, for example to `effect/dist/index.js`. */
const withoutStore = (path: string) => path.replace(/^.*node_modules\/\.pnpm\/[^/]+\//, "")

/** Checks the imports of every module of the workspace at `root`, type-only ones included. */
export const readDependencies = async (root: string): Promise<DependencyReport> => {
  const output = await cruise(
    roots.filter((directory) => existsSync(join(root, directory))),
    {
      baseDir: root,
      ruleSet: dependencyRules,
      validate: true,
      // Uses the TypeScript that pnpm-workspace.yaml provides for it: version 7 has no compiler API.
      parser: "tsc",
      tsPreCompilationDeps: true,
      exclude: { path: "^(?:packages/[^/]+|examples/[^/]+|test|lint)/dist/" },
      doNotFollow: { path: "(?:^|/)node_modules/" },
      enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] }
    }
  ).then((result) => result.output as ICruiseResult)

  const ours = output.modules.filter(
    (module) => !ignored.test(module.source) && roots.includes(module.source.split("/", 1)[0]!)
  )
  const importsOf = new Map(ours.map((module) => [module.source, module.dependencies.length]))
  const onDisk = roots.flatMap((directory) =>
    globSync(`${directory}/**/*.{ts,mts,mjs,js}`, { cwd: root, exclude: (path) => ignored.test(path) })
  )
  return {
    moduleCount: ours.length,
    importCount: ours.reduce((total, module) => total + module.dependencies.length, 0),
    unread: onDisk.filter((path) => {
      const imports = importsOf.get(path)
      return imports === undefined || (imports === 0 && importLine.test(readFileSync(join(root, path), "utf8")))
    }),
    violations: output.summary.violations.map((violation) => ({
      rule: violation.rule.name,
      from: violation.from,
      to: withoutStore(violation.to),
      cycle: (violation.cycle ?? []).map((step) => step.name),
      comment: dependencyRules.forbidden?.find((rule) => rule.name === violation.rule.name)?.comment ?? ""
    }))
  }
}
