import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * Builds every package, packs it into a folder (default `dist/packages`) as it would be published, and checks each packed
 * file with publint and @arethetypeswrong/cli. Fails on the first problem.
 */
const root = fileURLToPath(new URL("..", import.meta.url))
const folder = resolve(process.argv[2] ?? join(root, "dist/packages"))

const run = (command: string, parameters: ReadonlyArray<string>): void => {
  const { error, status, stderr, stdout } = spawnSync(command, parameters, { cwd: root, encoding: "utf8" })
  if (error !== undefined) throw error
  if (status === 0) return
  console.error(`${command} ${parameters.join(" ")}\n${stdout}${stderr}`)
  process.exit(1)
}

const tool = (name: string): string => join(root, "node_modules/.bin", name)

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
run(tool("tsc"), ["-b", ...readdirSync(join(root, "packages")).map((name) => `packages/${name}`)])
run("npx", ["-y", "pnpm@12", "--recursive", "--filter", "./packages/*", "pack", "--pack-destination", folder])
for (const file of readdirSync(folder)) {
  const path = join(folder, file)
  run(tool("publint"), [path, "--strict"])
  run(tool("attw"), [path, "--profile", "esm-only", "--no-emoji"])
  console.log(`${file} ${Math.ceil(statSync(path).size / 1024)} KiB`)
}
