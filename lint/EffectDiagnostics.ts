import { spawnSync } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const tool = realpathSync(fileURLToPath(new URL("../node_modules/@effect/tsgo", import.meta.url)))

/** Whether the tool's package for this platform is installed. */
export const hasEffectDiagnostics = existsSync(join(dirname(tool), `tsgo-${process.platform}-${process.arch}`))

export interface EffectReport {
  readonly clean: boolean
  readonly text: string
}

/** Checks a TypeScript project with Effect's diagnostics, for example for effects that are never run. */
export const readEffectDiagnostics = (project: string): EffectReport => {
  const program = join(tool, "dist/effect-tsgo.cjs")
  const options = ["--project", project, "--format", "text", "--severity", "error,warning", "--strict"]
  const run = spawnSync(process.execPath, [program, "diagnostics", ...options], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  const checked = Number(/^Checked (\d+) files/m.exec(run.stdout)?.[1] ?? 0)
  return { clean: run.status === 0 && checked > 0, text: run.stdout + run.stderr }
}
