/**
 * Bundles agentos-server into dist/bundle: the program, the programs that it starts, each in one file, the libraries that
 * it loads on first use, the documentation, the console, and the packages that it offers for download.
 *
 * `bundleMain.ts FOLDER MODULE` writes another build into a folder, with the plugin that is the default export of a module.
 */
import { site } from "@agentos/site"
import { readFileSync, rmSync } from "node:fs"
import { cp, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type OutputOptions, type Plugin, rolldown } from "rolldown"
import { asciiOf, BUILD, lazyBuiltins, sealing, thirdPartyLicenses } from "../../../release/Bundling.ts"
import { effectImports } from "../../../release/EffectImports.ts"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))
const [FOLDER = fileURLToPath(new URL("../dist/bundle", import.meta.url)), added] = process.argv.slice(2)

/** The entry modules by the name of their file. A program finds those that it starts beside its own file. */
const PROGRAMS = {
  "agentos-server": "packages/server/src/main.ts",
  parserMain: "packages/provider-smtp/src/parser/parserMain.ts",
  createDatabaseMain: "packages/postgres/src/createDatabaseMain.ts",
  watchdogMain: "packages/server/src/watchdogMain.ts"
}

/** Loads WebAssembly and data beside its modules, and stays a dependency. */
const EXTERNAL = "@electric-sql/pglite"

const { version } = JSON.parse(readFileSync(join(ROOT, "packages/server/package.json"), "utf8")) as {
  readonly version: string
}

/** Replacements of the modules that read files beside them. */
const REPLACED = new Map([
  [
    "packages/site/src/index.ts",
    `import { join } from "node:path"
    const folder = (name) => async () => join(__dirname, name)
    export const site = { texts: folder("site"), pages: folder("site"), downloads: folder("downloads") }`
  ],
  [
    "packages/http-server/src/handler/operator/ConsoleFiles.ts",
    `import { pathToFileURL } from "node:url"
    export const consoleFolder = pathToFileURL(__dirname + "/console/")`
  ],
  ["packages/server/src/Version.ts", `export const VERSION = ${JSON.stringify(version)}`],
  ["packages/provider-smtp/src/parser/Mailauth.ts", `export { authenticate } from "mailauth"`],
  [
    "packages/provider-smtp/src/parser/ParserFiles.ts",
    `import { join } from "node:path"
    export const PARSER_MAIN = join(__dirname, "parserMain.cjs")
    export const parserFiles = () => [PARSER_MAIN]`
  ]
])

/** Modules that find a file beside the bundle as they do beside their sources. */
const LOCATED = new Set(["packages/postgres/src/PGliteDatabase.ts", "packages/server/src/Watchdog.ts"])

const replaced: Plugin = {
  name: "replaced",
  transform: (code, id) => {
    const source = id.slice(ROOT.length)
    const isKnown = REPLACED.has(source) || LOCATED.has(source) || !source.startsWith("packages/")
    if (!isKnown && code.includes("import.meta"))
      throw new Error(`${source} must be replaced: it finds files beside it`)
    return null
  },
  load: (id) => REPLACED.get(id.slice(ROOT.length)) ?? (/\/mailauth\/lib\/bimi\/[\w-]+\.js$/.test(id) ? "" : null)
}

const plugins: ReadonlyArray<Plugin> =
  added === undefined ? [] : [((await import(added)) as { readonly default: Plugin }).default]

/** Libraries that are used later than the start, or not without mail or telephones. */
const SEALED = {
  archive: { yazl: ["ZipFile"] },
  mailauth: { mailauth: ["authenticate()"] },
  numbering: {
    "libphonenumber-js/max": [
      "getCountries()",
      "getCountryCallingCode()",
      "isSupportedCountry()",
      "parsePhoneNumberFromString()"
    ]
  },
  recovery: { "@bitauth/libauth/build/lib/crypto/secp256k1.js": ["instantiateSecp256k1()"] },
  headers: { "@x402/core/http": ["encodePaymentRequiredHeader()", "encodePaymentResponseHeader()"] },
  smtp: {
    nodemailer: ["default"],
    "nodemailer/lib/dkim/message-parser": ["default"],
    "nodemailer/lib/dkim/relaxed-body": ["default"],
    "nodemailer/lib/dkim/sign": ["default"],
    "nodemailer/lib/smtp-pool": ["default"],
    "smtp-server": ["SMTPServer"],
    "smtp-server/lib/smtp-connection.js": ["SMTPConnection"],
    "smtp-server/lib/smtp-stream.js": ["SMTPStream"]
  },
  certificates: {
    "@peculiar/asn1-schema": ["AsnConvert", "OctetString"],
    "@peculiar/asn1-x509": [
      "AlgorithmIdentifier",
      "AttributeTypeAndValue",
      "AttributeValue",
      "BasicConstraints",
      "Certificate",
      "Extension",
      "Extensions",
      "GeneralName",
      "Name",
      "RelativeDistinguishedName",
      "SubjectAlternativeName",
      "SubjectPublicKeyInfo",
      "TBSCertificate",
      "Validity",
      "Version",
      "id_ce_basicConstraints",
      "id_ce_subjectAltName"
    ]
  }
}

const output: OutputOptions = { format: "cjs", codeSplitting: false, strictExecutionOrder: true, comments: false }

const importEffect = effectImports(ROOT)
const effectByModule: Plugin = {
  name: "effect-by-module",
  // No line moves.
  transform: (code) => (code.includes('"effect"') ? { code: importEffect(code), map: null } : null)
}

const write = (name: string, code: string): Promise<void> => writeFile(join(FOLDER, name), asciiOf(code))

/** Writes the files of a program, and returns the modules in them. */
const bundle = async (name: string, source: string): Promise<ReadonlyArray<string>> => {
  // The mail parser needs its libraries at once.
  const libraries = name === "parserMain" ? {} : SEALED
  const sealed = sealing(name, libraries, { rolldown, output, plugins: [replaced], writeFile: write })
  const build = await rolldown({
    input: join(ROOT, source),
    cwd: ROOT,
    ...BUILD,
    external: [EXTERNAL],
    // The functions of modules are parenthesized, so that Node compiles them while it parses the file, not after that.
    optimization: { pifeForModuleWrappers: true },
    plugins: [...plugins, replaced, sealed.plugin, effectByModule, lazyBuiltins]
  })
  try {
    const [chunk] = (await build.generate(output)).output
    await write(`${name}.cjs`, chunk.code)
    return [...Object.keys(chunk.modules), ...sealed.modules]
  } finally {
    await build.close()
  }
}

rmSync(FOLDER, { recursive: true, force: true })
await mkdir(FOLDER, { recursive: true })
const modules: Array<string> = []
for (const [name, source] of Object.entries(PROGRAMS)) modules.push(...(await bundle(name, source)))
await cp(await site.pages(), join(FOLDER, "site"), { recursive: true })
await cp(join(ROOT, "packages/http-server/console"), join(FOLDER, "console"), { recursive: true })
await cp(await site.downloads(), join(FOLDER, "downloads"), { recursive: true })
await writeFile(join(FOLDER, "THIRD_PARTY_LICENSES"), thirdPartyLicenses(modules))
console.log(`Built agentos-server in ${FOLDER}`)
