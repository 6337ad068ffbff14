/**
 * The allowed imports, as rules of dependency-cruiser. Paths are relative to the root of the workspace, after
 * resolution: `@agentos/core` is `packages/core/src/index.ts`, `effect` is `node_modules/…/effect/dist/index.js`.
 *
 * Almost every rule lists the allowed imports. So a new package, or a module that does not resolve, is refused until a
 * rule allows it.
 */
import type { IFlattenedRuleSet, IRegularForbiddenRuleType } from "dependency-cruiser"

/** The layers of the core, lowest first. A folder imports its own layer and lower ones. */
export const coreLayers: ReadonlyArray<ReadonlyArray<string>> = [
  ["kernel"],
  ["ingress"],
  ["limits"],
  ["events", "tenancy"],
  ["catalog"],
  ["payment"],
  ["email", "phone"],
  ["jobs"],
  ["operator"]
]

/** The layers of other packages, lowest first. A folder imports lower ones, not others of its own layer. */
export const packageLayers: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>> = {
  api: [["schema"], ["example"], ["operation"], ["error"], ["discovery"], ["openapi"], ["asyncapi"]],
  cli: [
    ["host"],
    ["file", "output"],
    ["context"],
    ["config"],
    ["server"],
    ["mail", "tail", "wallet"],
    ["payment"],
    ["help", "mcp", "sandbox"],
    ["command"]
  ],
  "http-server": [["health"], ["edge"], ["connection", "operation", "site"], ["handler", "ingress", "realtime"]],
  "provider-smtp": [["header"], ["listener", "outbound", "parser"]],
  server: [["variable"], ["output"], ["worker"], ["config"], ["program"], ["check"], ["command"]],
  sandbox: [
    ["shared"],
    ["agent", "carrier", "chain", "postgres", "relay"],
    ["clock"],
    ["facilitator"],
    ["supervisor"],
    ["tour"]
  ],
  x402: [["network"], ["header"], ["chain"], ["method"], ["facilitator"], ["self"]]
}

/** Files next to these folders that are below all of them. The other files are the top. */
const filesBelow: Readonly<Record<string, ReadonlyArray<string>>> = {
  api: ["ApiIdentity", "Catalog", "Guides", "PublicPath", "RealtimeMessage", "SuccessEnvelope"],
  cli: ["Version"],
  "http-server": ["DatabaseState", "Doctor", "ReferenceClocks", "ServerSettings", "WorkerMetrics"],
  "provider-smtp": ["SenderDns"],
  server: ["Secrets", "Version", "Watchdog"],
  x402: ["HttpExchange"]
}

/** Packages that implement a port of the core. */
const adapter = "(?:memory|node|postgres|x402|provider-[^/]+)"
/** The one port outside the core: the store of the self-hosted facilitator's transactions. */
const gasStorePort = "^packages/x402/src/self/GasTransactionStore\\.ts$"
/** Parser, help, output and exit codes of the programs. */
const commandLine = "^packages/node/src/command-line/"
/** The lock between processes, which depends on nothing else in its package. */
const fileLock = "^packages/node/src/file-lock/"

const installed = (name: string) => `(?:^|/)node_modules/${name}/`
const anyInstalled = "(?:^|/)node_modules/"
/**
 * The root of effect, its modules, and its encodings, of which the code rules allow only the stable ones. The other
 * modules are unstable or do I/O.
 */
const effectStable = `${installed("effect")}dist/(?:[A-Z]\\w*|index|encoding/\\w+)\\.js$`
const effectTesting = `${installed("effect")}dist/testing/`
const effect = installed("effect")
const vitest = [installed("vitest"), installed("@effect/vitest")]

const source = (name: string) => `^packages/${name}/src/`
const contractTests = (name: string) => `^packages/${name}/contract-tests/`
const own = (name: string) => `^packages/${name}/`

/** The frameworks of these modules are optional peer dependencies. */
const toolAdapters = "^packages/tools/src/adapter/"

/** In a list of allowed imports: every module that Node includes. */
const nodeBuiltin = "node:*"

const only = (
  name: string,
  comment: string,
  from: IRegularForbiddenRuleType["from"],
  allowed: ReadonlyArray<string>
): IRegularForbiddenRuleType => ({
  name,
  comment,
  severity: "error",
  from,
  to: {
    pathNot: allowed.filter((path) => path !== nodeBuiltin),
    ...(allowed.includes(nodeBuiltin) ? { dependencyTypesNot: ["core"] } : {})
  }
})

const never = (
  name: string,
  comment: string,
  from: IRegularForbiddenRuleType["from"],
  to: IRegularForbiddenRuleType["to"]
): IRegularForbiddenRuleType => ({ name, comment, severity: "error", from, to })

const layerRules = coreLayers.flatMap((layer, level) =>
  layer.map((folder) =>
    only(
      `core-layer-${folder}`,
      `core/src/${folder} imports no folder of a higher layer.`,
      { path: `^packages/core/src/${folder}/` },
      [
        ...coreLayers.slice(0, level + 1).map((reachable) => `^packages/core/src/(?:${reachable.join("|")})/`),
        "^(?!packages/core/src/)"
      ]
    )
  )
)

const packageLayerRules = Object.entries(packageLayers).flatMap(([name, layers]) => {
  const root = `^packages/${name}/src/`
  const outside = `^(?!packages/${name}/src/)`
  const below = `${root}(?:${(filesBelow[name] ?? []).join("|")})\\.ts$`
  return [
    only(`${name}-files-below-folders`, `These files of ${name}/src import none of its folders.`, { path: below }, [
      below,
      outside
    ]),
    ...layers.flatMap((layer, level) =>
      layer.map((folder) =>
        only(
          `${name}-layer-${folder}`,
          `${name}/src/${folder} imports only folders of lower layers: packageLayers in lint/DependencyRules.ts.`,
          { path: `${root}${folder}/` },
          [`${root}(?:${[folder, ...layers.slice(0, level).flat()].join("|")})/`, below, outside]
        )
      )
    ),
    never(
      `${name}-has-known-folders`,
      `A new folder of ${name}/src needs a layer: add it to packageLayers in lint/DependencyRules.ts.`,
      { path: root, pathNot: [`${root}(?:(?:${layers.flat().join("|")})/|[^/]+$)`] },
      {}
    )
  ]
})

const packageRules: ReadonlyArray<IRegularForbiddenRuleType> = [
  only(
    "core-imports-effect-alone",
    "The core does no I/O: it imports itself and the stable modules of effect.",
    { path: source("core") },
    [source("core"), effectStable]
  ),
  only(
    "core-tests",
    "Tests of the core use the memory adapters and the keyring, and no other adapter.",
    { path: "^packages/core/test/" },
    [own("core"), source("(?:memory|node)"), effectStable, effectTesting, ...vitest, nodeBuiltin]
  ),
  only(
    "contract-tests-import-core-alone",
    "A contract suite imports the port and other suites, never an adapter.",
    { path: contractTests("[^/]+") },
    [contractTests("core"), source("core"), contractTests("x402"), gasStorePort, effect, ...vitest]
  ),
  only("api-imports-core-alone", "The wire contract contains no server code and no adapter.", { path: source("api") }, [
    source("api"),
    source("core"),
    effect
  ]),
  only(
    "adapters-import-core-alone",
    "An adapter imports the core and its technology; only entry points combine adapters.",
    { path: `^packages/(${adapter})/src/` },
    ["^packages/$1/src/", source("core"), fileLock, gasStorePort, anyInstalled, nodeBuiltin]
  ),
  never(
    "self-facilitator-is-one-of-several",
    "Payments reach every facilitator through the Facilitator interface; only the configuration names the own one.",
    { path: "^packages/x402/src/", pathNot: "^packages/x402/src/(?:self/|(?:index|NetworkConfig)\\.ts$)" },
    { path: "^packages/x402/src/self/" }
  ),
  only(
    "node-folders-stand-alone",
    "Each folder of packages/node is loaded by itself.",
    { path: "^packages/node/src/([^/]+)/" },
    ["^packages/node/src/$1/", source("core"), anyInstalled, nodeBuiltin]
  ),
  only(
    "adapter-tests",
    "Tests of an adapter may use the contract suites and their ports, and memory and the keyring for the ports beside their own.",
    { path: `^packages/(${adapter})/test/` },
    [
      "^packages/$1/",
      source("(?:core|memory|node)"),
      contractTests("(?:core|x402)"),
      gasStorePort,
      anyInstalled,
      nodeBuiltin
    ]
  ),
  only(
    "http-server-imports-api-and-core",
    "The HTTP API reaches adapters and providers through ports of the core.",
    { path: source("http-server") },
    [source("http-server"), source("(?:api|core)"), anyInstalled, nodeBuiltin]
  ),
  only(
    "agentos-composes-adapters",
    "The one composition of core, HTTP API and adapters, for servers and for other hosts.",
    { path: source("agentos") },
    [source("agentos"), source(`(?:api|core|http-server|site|${adapter})`), anyInstalled, nodeBuiltin]
  ),
  only(
    "server-configures-agentos",
    "The programs read the environment, configure the composition and listen; they compose nothing themselves.",
    { path: source("server") },
    [source("server"), source("(?:agentos|core|http-server|node|provider-smtp|x402)"), anyInstalled, nodeBuiltin]
  ),
  only(
    "site-imports-node-alone",
    "A server loads the documentation as files. What generates them stays out of the package.",
    { path: source("site") },
    [source("site"), installed("@types/node"), nodeBuiltin]
  ),
  only(
    "client-stands-alone",
    "The client runs in browsers and needs nothing at run time: it imports neither packages nor Node's modules.",
    { path: source("client") },
    [source("client")]
  ),
  only(
    "tools-import-client-alone",
    "The tools run wherever the client does: they import neither the server nor Node's modules.",
    { path: source("tools"), pathNot: toolAdapters },
    [source("tools"), source("client"), installed("@cfworker/json-schema")]
  ),
  only(
    "tool-adapters-import-their-framework",
    "An adapter of the tools is loaded by a host that has its framework installed.",
    { path: toolAdapters },
    [source("tools"), source("client"), installed("ai"), installed("@langchain/core")]
  ),
  only("cli-imports-api-alone", "agentctl is a client like any other.", { path: source("cli") }, [
    source("cli"),
    source("(?:api|client|tools)"),
    commandLine,
    fileLock,
    anyInstalled,
    nodeBuiltin
  ]),
  never(
    "client-follows-the-gateway",
    "The client follows the gateway for agentctl too, which gives it the sockets in one file.",
    { path: source("cli"), pathNot: "^packages/cli/src/tail/Gateway\\.ts$" },
    { path: installed("ws") }
  ),
  only(
    "command-line-stands-alone",
    "The command line that the programs share knows none of them.",
    { path: commandLine },
    [commandLine, anyInstalled, nodeBuiltin]
  ),
  only(
    "file-lock-imports-node-alone",
    "The lock is shared by the client, the sandbox and PGlite: it depends on none of them.",
    { path: fileLock },
    [fileLock, nodeBuiltin]
  ),
  only(
    "examples-stand-alone",
    "The example shows what an agent needs: of this workspace, only the client.",
    { path: "^examples/(answer-call|answer-call-webhook|browser-page|mcp-host|sign-up|support-inbox)/" },
    ["^examples/$1/", source("client"), anyInstalled, nodeBuiltin]
  )
]

const everywhere: ReadonlyArray<IRegularForbiddenRuleType> = [
  never("no-circular", "Modules must not import each other, directly or through others.", {}, { circular: true }),
  never(
    "core-has-known-folders",
    "A new folder of the core needs a layer: add it to coreLayers in lint/DependencyRules.ts. (Files next to the folders are the top layer.)",
    { path: source("core"), pathNot: [`${source("core")}(?:(?:${coreLayers.flat().join("|")})/|[^/]+$)`] },
    {}
  ),
  never(
    "sandbox-is-for-tests-and-examples",
    "Production code does not import the sandbox.",
    { pathNot: ["^packages/sandbox/", "^test/", "^examples/"] },
    { path: "^packages/sandbox/" }
  ),
  never(
    "nothing-imports-what-spans-packages",
    "Packages do not import tests or examples.",
    { path: "^(?:packages|lint)/" },
    { path: "^(?:test|examples)/" }
  ),
  never(
    "packages-do-not-import-tools",
    "The lint tools serve the workspace, not the product.",
    { pathNot: ["^lint/", "^test/toolchain/", "^test/peers/prometheus\\.test\\.ts$"] },
    { path: "^lint/" }
  ),
  never(
    "sources-do-not-import-tests",
    "Published code does not import tests.",
    { path: "^packages/[^/]+/(?:contract-tests|src)/" },
    { path: "^packages/[^/]+/test/" }
  ),
  never(
    "sources-do-not-import-suites",
    "The contract suites need Vitest, which only tests install.",
    { path: "^packages/[^/]+/src/" },
    { path: contractTests("[^/]+") }
  ),
  never(
    "packages-meet-by-name",
    "Import another package by its name, through its exports. Suites of certificates, growth and fidelity use functions that are not exported.",
    { path: "^((?:packages|examples)/[^/]+|test|lint)/", pathNot: ["^test/(?:acme|growth|fidelity)/"] },
    { path: "^packages/", pathNot: ["^$1/"], dependencyTypes: ["local"] }
  ),
  never(
    "sources-declare-what-they-import",
    "List each run-time import of a source in the dependencies of its package.json.",
    { path: "^packages/[^/]+/src/", pathNot: toolAdapters },
    { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] }
  ),
  never(
    "no-unresolvable",
    "An import that does not resolve cannot be checked.",
    // The drivers of stock clients run where these are installed.
    { pathNot: ["^test/clients/wallets/drivers/"] },
    // Astro provides its module while it builds the site.
    { couldNotResolve: true, pathNot: ["^astro:content$"] }
  )
]

/** Every rule, in the shape that `cruise` takes. */
export const dependencyRules: IFlattenedRuleSet = {
  forbidden: [...packageRules, ...layerRules, ...packageLayerRules, ...everywhere]
}
