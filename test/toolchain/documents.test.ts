import { spawnSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { repository } from "./Workspace.ts"

const packages = globSync("packages/*/package.json", { cwd: repository }).map(dirname)

/** Returns the programs of a document, with the language of each. */
const blocksOf = (document: string) => {
  const text = readFileSync(join(repository, document), "utf8")
  return [...text.matchAll(/```(js|ts)\n([^]*?)```/g)].map(([, language = "", code = ""]) => ({ language, code }))
}

/** Below the package whose imports a document shows, so that they resolve. */
const folderOf = (folder: string) => join(repository, folder, "dist/documents")

const documents = [
  { document: "packages/site/content/embed.md", folder: "packages/agentos" },
  { document: "packages/site/content/adapters.md", folder: "packages/agentos" },
  ...packages.map((folder) => ({ document: `${folder}/README.md`, folder }))
].filter(({ document }) => existsSync(join(repository, document)))

afterAll(() => {
  for (const { folder } of documents) rmSync(folderOf(folder), { recursive: true, force: true })
})

describe("documents", () => {
  it("there is a README in every package, with a first use", () => {
    expect(packages.filter((folder) => !existsSync(join(repository, folder, "README.md")))).toEqual([])
    const without = packages.filter(
      (folder) => !/\n```/.test(readFileSync(join(repository, folder, "README.md"), "utf8"))
    )
    expect(without).toEqual([])
  })

  it("show programs that compile, in the pages on embedding and in the README of every package", () => {
    const files = documents.flatMap(({ document, folder }) =>
      blocksOf(document).map(({ code, language }, index) => {
        const file = join(folderOf(folder), `${document.replaceAll(/\W/g, "-")}-${index}.${language}`)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, `${code}\nexport {}\n`)
        return file
      })
    )
    expect(files.length).toBeGreaterThan(packages.length / 2)
    const project = join(folderOf("packages/agentos"), "tsconfig.json")
    writeFileSync(
      project,
      JSON.stringify({
        extends: join(repository, "tsconfig.base.json"),
        compilerOptions: {
          noEmit: true,
          allowJs: true,
          checkJs: true,
          noUnusedLocals: false,
          rewriteRelativeImportExtensions: false,
          typeRoots: [join(repository, "node_modules/@types")]
        },
        files
      })
    )
    const { stderr, stdout } = spawnSync(join(repository, "node_modules/.bin/tsc"), ["-p", project], {
      encoding: "utf8"
    })
    expect(`${stdout}${stderr}`).toBe("")
  })
})
