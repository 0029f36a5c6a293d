declare module '*.css'
// As text.
declare module '*.go'
declare module '*.java'
declare module '*.md'
declare module '*.php'
declare module '*.py'
