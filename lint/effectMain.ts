import { fileURLToPath } from "node:url"
import { hasEffectDiagnostics, readEffectDiagnostics } from "./EffectDiagnostics.ts"

if (hasEffectDiagnostics) {
  const report = readEffectDiagnostics(fileURLToPath(new URL("../tsconfig.effect.json", import.meta.url)))
  console.log(report.text.trim())
  process.exitCode = report.clean ? 0 : 1
} else {
  console.log(`Effect diagnostics: not run, their package for ${process.platform}-${process.arch} is not installed.`)
  // Elsewhere than in CI a developer's machine may do without; what lands is always checked.
  process.exitCode = process.env["CI"] === undefined ? 0 : 1
}
