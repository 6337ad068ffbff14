/** The browser bundle of Scalar, the only file that the site uses, contains its libraries: 250 MB less to install. */
const readPackage = (manifest) =>
  manifest.name === "@scalar/api-reference" ? { ...manifest, dependencies: {}, peerDependencies: {} } : manifest

export const hooks = { readPackage }
