from overtone.searchers.auto.auto import AutoSearch as AutoSearch
