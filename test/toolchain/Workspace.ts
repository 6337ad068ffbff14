import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of this repository. */
export const repository = fileURLToPath(new URL("../..", import.meta.url))

/** A workspace in the temporary folder with the layout of this one, deleted when it is disposed. */
export interface Workspace extends Disposable {
  readonly root: string
}

/**
 * Creates a workspace with these files (path from the root to text). Packages import each other and effect by name, as
 * after an install. The lint configuration is that of this repository.
 */
export const makeWorkspace = (files: Readonly<Record<string, string>>): Workspace => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agentos-toolchain-")))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const packages = new Set(Object.keys(files).flatMap((path) => /^packages\/([^/]+)\//.exec(path)?.[1] ?? []))
  const dependencies = Object.fromEntries([...packages].map((name) => [`@agentos/${name}`, "workspace:*"]))
  write("package.json", JSON.stringify({ type: "module" }))
  mkdirSync(join(root, "node_modules/@agentos"), { recursive: true })
  symlinkSync(join(repository, "packages/core/node_modules/effect"), join(root, "node_modules/effect"))
  symlinkSync(join(repository, "packages/cli/node_modules/ws"), join(root, "node_modules/ws"))
  symlinkSync(join(repository, "node_modules/@types"), join(root, "node_modules/@types"))
  symlinkSync(join(repository, "node_modules/vitest"), join(root, "node_modules/undeclared"))
  for (const name of packages) {
    symlinkSync(join(root, "packages", name), join(root, "node_modules/@agentos", name))
    write(
      `packages/${name}/package.json`,
      JSON.stringify({
        name: `@agentos/${name}`,
        type: "module",
        exports: { ".": "./src/index.ts" },
        dependencies: { effect: "*", ...dependencies }
      })
    )
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  for (const path of [
    ".gitignore",
    ".oxlintrc.json",
    "lint/OxlintPlugin.ts",
    "tsconfig.base.json",
    "tsconfig.effect.json"
  ])
    cpSync(join(repository, path), join(root, path))
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}
