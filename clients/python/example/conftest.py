pytest_plugins = ["payout_sandbox"]
