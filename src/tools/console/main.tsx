import { render } from 'preact'
import { App } from './app.tsx'
import { stayConnected } from './live.ts'
import './app.css'

render(<App />, document.getElementById('console')!)
void stayConnected()
