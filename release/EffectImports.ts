import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** Imports of effect's root in built JavaScript, which may span lines. */
const ROOT_IMPORT = /import \{([^}]*)\} from "effect"/g
const DYNAMIC_IMPORT = /const \{([^}]*)\} = await import\("effect"\)/g

/**
 * Returns a function that replaces the imports of effect's root in a built module by imports of the modules that it uses.
 * The root loads all 247 modules of effect; the core needs two thirds of them.
 */
export const effectImports = (root: string): ((built: string) => string) => {
  const modules = dirname(createRequire(join(root, "packages/core/package.json")).resolve("effect"))
  // The root also exports functions, such as pipe.
  const isModule = (name: string): boolean => existsSync(join(modules, `${name}.js`))
  const importOf = (specifier: string): string => {
    const [name = "", alias = name] = specifier.split(/\s+as\s+/)
    return isModule(name)
      ? `import * as ${alias} from "effect/${name}"`
      : `import { ${specifier} } from "effect/Function"`
  }
  const dynamicImportOf = (name: string): string => {
    if (!isModule(name)) throw new Error(`import ${name} of effect by its module`)
    return `import("effect/${name}")`
  }
  const namesIn = (names: string): ReadonlyArray<string> =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean)
  // The lines after it keep their numbers, for source maps.
  const linesOf = (statement: string): string => "\n".repeat(statement.split("\n").length - 1)
  return (built) =>
    built
      .replaceAll(
        ROOT_IMPORT,
        (statement, names: string) => namesIn(names).map(importOf).join("; ") + linesOf(statement)
      )
      .replaceAll(DYNAMIC_IMPORT, (statement, names: string) => {
        const imports = namesIn(names).map(dynamicImportOf)
        return `const [${names}] = await Promise.all([${imports.join(", ")}])${linesOf(statement)}`
      })
}

/** Does so in the built files of every package. */
export const importEffectByModule = (root: string): void => {
  const replaced = effectImports(root)
  for (const path of globSync("packages/*/dist/**/*.js", { cwd: root })) {
    const file = join(root, path)
    const built = readFileSync(file, "utf8")
    const text = replaced(built)
    if (text !== built) writeFileSync(file, text)
  }
}
